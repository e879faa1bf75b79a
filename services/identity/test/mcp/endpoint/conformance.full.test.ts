import { fileURLToPath } from 'node:url';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { callUrl } from '@platform/testing';
import { startIdentity } from '../../identity.js';
import { createCaller } from './endpoint.js';
import { startFixtureEndpoint } from './fixture-endpoint.js';

/* The official conformance suite: every server scenario that a revision requires. */

const suiteFolder = dirname(
  fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/package.json')),
);
const program = join(suiteFolder, 'dist/index.js');
const onNode20 = join(import.meta.dirname, '../../fixtures/conformance-on-node-20.mjs');

const logging =
  'the endpoint sends no log messages, so an answer of the older revisions is JSON without a stream for them';
const asking =
  'a stateless endpoint cannot ask the client of an older revision: the answer would come in a separate request';

/** The scenarios that don't apply, and why. */
const notApplicable: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '2025-11-25': {
    'tools-call-with-logging': logging,
    'tools-call-sampling': asking,
    'tools-call-elicitation': asking,
    'elicitation-sep1034-defaults': asking,
    'elicitation-sep1330-enums': asking,
  },
  '2026-07-28': {},
}; // oxfmt-ignore

const identity = await startIdentity();
const endpoint = await startFixtureEndpoint(identity.url, await identity.login());
const output = await mkdtemp(join(tmpdir(), 'conformance-'));
afterAll(async () => {
  await endpoint.close();
  await identity.close();
  await rm(output, { recursive: true, force: true });
});

/** Runs the suite. Its exit code says only that something failed; the files contain the details. */
const runSuite = (revision: string, folder: string) =>
  new Promise<void>((resolve) => {
    const what = ['server', '--url', endpoint.url, '--requirements', revision, '--output-dir', folder];
    execFile(process.execPath, ['--import', onNode20, program, ...what], { timeout: 100_000 }, () => {
      resolve();
    });
  });

async function requiredBy(revision: string): Promise<string[]> {
  const list = await readFile(join(suiteFolder, `requirements/${revision}.yaml`), 'utf8');
  const section = /^server:\n((?: {2}- \S+\n)+)/m.exec(list)?.[1] ?? '';
  return [...section.matchAll(/- (\S+)/g)].map(([, name = '']) => name);
}

/** The checks of each scenario, from `server-<scenario>-<time>/checks.json`. */
async function readChecks(folder: string) {
  const checks = new Map<string, { id: string; status: string }[]>();
  for (const name of await readdir(folder)) {
    const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(name)?.[1] ?? name;
    checks.set(scenario, JSON.parse(await readFile(join(folder, name, 'checks.json'), 'utf8')));
  }
  return checks;
}

test.each([
  ['2025-11-25', 30],
  ['2026-07-28', 37],
])('every required scenario of %s passes, except the inapplicable ones, which all fail', async (revision, count) => {
  const folder = join(output, revision);
  await runSuite(revision, folder);
  const required = await requiredBy(revision);
  expect(required).toHaveLength(count);
  const checks = await readChecks(folder);
  expect([...checks.keys()]).toEqual(expect.arrayContaining(required));
  const isFailure = ({ status }: { status: string }) => status === 'FAILURE';
  const failed = required.filter((scenario) => checks.get(scenario)?.some(isFailure));
  expect(failed.toSorted()).toEqual(Object.keys(notApplicable[revision] ?? {}).toSorted());
}); // oxfmt-ignore

const caller = createCaller({ call: (method, _path, options) => callUrl(endpoint.url, method, options) }, '');

test.each(['legacy', 'modern'] as const)(
  'MCP-3: progress is streamed only to clients that accept a stream, %s',
  async (era) => {
    const params = { name: 'test_tool_with_progress', _meta: { progressToken: 'p' } };
    const call = (accept: string) => caller[era]('tools/call', params, { accept });
    for (const accept of ['*/*', 'application/json, text/event-stream;q=0']) {
      const { headers, body } = await call(accept);
      expect(headers.get('content-type')).toContain('application/json');
      expect(body.result.structuredContent).toEqual({ text: 'done' });
    }
    for (const accept of ['TEXT/EVENT-STREAM, application/json', 'text/event-stream']) {
      const { headers, text } = await call(accept);
      expect(headers.get('content-type')).toContain('text/event-stream');
      const steps = text.split('\n').flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []));
      expect(steps.map(({ params: sent, id }) => sent?.progress ?? id)).toEqual([0, 50, 100, 1]);
    }
  },
); // oxfmt-ignore
