import { fileURLToPath } from 'node:url';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findFreePort } from '@platform/embedded';
import { createApplication } from './applications.js';
import { consentAt } from './flow.js';
import { startPublicIdentity } from './public-identity.js';

/* The scenarios that the official conformance suite has for authorization servers. */

const suite = join(
  dirname(fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/package.json'))),
  'dist/index.js',
);
const onNode20 = join(import.meta.dirname, '../fixtures/conformance-on-node-20.mjs');
const scenarios = ['authorization-server-metadata-endpoint', 'authorization-code-grant'];

const running = await startPublicIdentity();
const output = await mkdtemp(join(tmpdir(), 'conformance-'));
afterAll(async () => {
  await running.identity.close();
  await rm(output, { recursive: true, force: true });
});

/** Runs the suite, and follows the address that it prints as a browser does. */
function runSuite(options: readonly string[]): Promise<void> {
  const { browser } = running;
  return new Promise((resolve, reject) => {
    const args = ['--import', onNode20, suite, 'authorization', ...options];
    const child = execFile(process.execPath, args, { timeout: 60_000 }, () => {
      resolve();
    });
    let printed = '';
    let isOpened = false;
    child.stdout?.on('data', (chunk: string) => {
      printed += chunk;
      const address = /^http\S+\/oauth2\/authorize\?\S+$/m.exec(printed)?.[0];
      if (address === undefined || isOpened) return;
      isOpened = true;
      consentAt(browser, address)
        .then((target) => fetch(target))
        .catch((error: Error) => {
          child.kill();
          reject(error);
        });
    });
  });
}

async function readChecks(): Promise<Map<string, readonly { status: string; errorMessage?: string }[]>> {
  const checks = new Map<string, { status: string; errorMessage?: string }[]>();
  for (const folder of await readdir(output)) {
    const scenario = scenarios.find((name) => folder.includes(name)) ?? folder;
    checks.set(scenario, JSON.parse(await readFile(join(output, folder, 'checks.json'), 'utf8')));
  }
  return checks;
}

test('every scenario for authorization servers passes', async () => {
  const { identity } = running;
  const port = await findFreePort();
  const { application } = await createApplication(identity, await identity.login(), {
    name: 'Conformance',
    grantTypes: ['authorization_code'],
    redirectUris: ['http://127.0.0.1/callback'],
    authMethod: 'none',
    role: undefined,
  });
  const where = ['--url', `${identity.url}/oauth2`, '--resource', `${identity.url}/mcp`];
  const client = ['--client-id', application.clientId, '--port', String(port)];
  await runSuite([...where, ...client, '--output-dir', output]);
  const checks = await readChecks();
  expect([...checks.keys()].toSorted()).toEqual(scenarios.toSorted());
  for (const found of checks.values())
    expect(new Set(found.map(({ status, errorMessage }) => errorMessage ?? status))).toEqual(
      new Set(['SUCCESS']),
    );
});
