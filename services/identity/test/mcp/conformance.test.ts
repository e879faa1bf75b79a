import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type IdentityUnderTest, startIdentity } from '../identity.js';
import { startFixtureEndpoint } from './fixture-endpoint.js';

/* The official conformance suite: every server scenario that a revision requires. */

const suiteFolder = dirname(require.resolve('@modelcontextprotocol/conformance/package.json'));
const program = join(suiteFolder, 'dist/index.js');
const onNode20 = join(__dirname, '../fixtures/conformance-on-node-20.mjs');

const content = 'results of tools are structured content and its text; no tool answers with other content';
const prompts = 'the endpoint offers no prompts, and says so in its capabilities';
const resources = 'the endpoint offers no resources, and says so in its capabilities';
const completions = 'there are no prompts and resources whose arguments could be completed';
const logging = 'the endpoint sends no log messages to clients, and says so in its capabilities';
const asking =
  'no tool asks its client for something: it has no sampling, elicitation or roots to be asked for';

const everywhere = {
  'completion-complete': completions,
  'tools-call-image': content,
  'tools-call-audio': content,
  'tools-call-embedded-resource': content,
  'tools-call-mixed-content': content,
  'resources-list': resources,
  'resources-read-text': resources,
  'resources-read-binary': resources,
  'resources-templates-read': resources,
  'prompts-list': prompts,
  'prompts-get-simple': prompts,
  'prompts-get-with-args': prompts,
  'prompts-get-embedded-resource': prompts,
  'prompts-get-with-image': prompts,
};

/** What does not apply, and why. Of a scenario that does in part, `<scenario> <check>`. */
const notApplicable: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '2025-11-25': {
    ...everywhere,
    'logging-set-level': logging,
    'tools-call-with-logging': logging,
    'tools-call-sampling': asking,
    'tools-call-elicitation': asking,
    'elicitation-sep1034-defaults': asking,
    'elicitation-sep1330-enums': asking,
    'resources-subscribe': resources,
    'resources-unsubscribe': resources,
  },
  '2026-07-28': {
    ...everywhere,
    'server-stateless sep-2575-server-rejects-undeclared-capability': asking,
    'server-stateless sep-2575-missing-capability-http-400': asking,
    'server-stateless sep-2575-http-server-no-independent-requests-on-stream': asking,
    'server-stateless sep-2575-server-no-log-without-loglevel': logging,
    'caching sep-2549-prompts-list-caching-hints': prompts,
    'caching sep-2549-resources-list-caching-hints': resources,
    'caching sep-2549-resources-templates-list-caching-hints': resources,
    'input-required-result-basic-elicitation': asking,
    'input-required-result-basic-sampling': asking,
    'input-required-result-basic-list-roots': asking,
    'input-required-result-request-state': asking,
    'input-required-result-multiple-input-requests': asking,
    'input-required-result-multi-round': asking,
    'input-required-result-non-tool-request': prompts,
    'input-required-result-result-type': asking,
    'input-required-result-tampered-state': asking,
    'input-required-result-capability-check': asking,
  },
};
const inPart = new Set(['server-stateless', 'caching']);

let identity: IdentityUnderTest;
let endpoint: Awaited<ReturnType<typeof startFixtureEndpoint>>;
let output: string;
beforeAll(async () => {
  identity = await startIdentity();
  endpoint = await startFixtureEndpoint(identity.url, await identity.login());
  output = await mkdtemp(join(tmpdir(), 'conformance-'));
});
afterAll(async () => {
  await endpoint.close();
  await identity.close();
  await rm(output, { recursive: true, force: true });
});

/** Its exit code says only that something failed; what did is in the files. */
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
])('of %s every required scenario passes but those that do not apply, which all fail', async (revision, count) => {
  const folder = join(output, revision);
  await runSuite(revision, folder);
  const required = await requiredBy(revision);
  expect(required).toHaveLength(count);
  const checks = await readChecks(folder);
  expect([...checks.keys()]).toEqual(expect.arrayContaining(required));
  const failed = required.flatMap((scenario) =>
    (checks.get(scenario) ?? [])
      .filter(({ status }) => status === 'FAILURE')
      .map(({ id }) => (inPart.has(scenario) ? `${scenario} ${id}` : scenario)),
  );
  expect([...new Set(failed)].toSorted()).toEqual(Object.keys(notApplicable[revision] ?? {}).toSorted());
}, 120_000); // prettier-ignore
