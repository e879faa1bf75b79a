import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { findFreePort } from '@platform/embedded';
import { describeWith, ensurePythonMcp } from '@platform/testing';
import { createApplication } from './applications.js';
import { fetchPatiently, readSample } from './documented-sample.js';
import { consentAt } from './flow.js';
import { type PublicIdentity, startPublicIdentity } from './public-identity.js';

const program = join(import.meta.dirname, 'fixtures/python-client.py');

/** Runs the client, and returns the lines it prints and a function that answers it. */
async function startClient(args: readonly string[], cwd?: string) {
  const child = spawn(await ensurePythonMcp(), [...args], { stdio: ['pipe', 'pipe', 'pipe'], cwd });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (errors += chunk));
  const exited = once(child, 'exit');
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    answer: (text: string) => child.stdin.end(`${text}\n`),
    exited,
    async readLine(): Promise<string> {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`the Python client ended: ${errors}`);
      return value;
    },
  };
}

describeWith('python-mcp', 'the client of the Python SDK', () => {
  let running: PublicIdentity;
  beforeAll(async () => {
    running = await startPublicIdentity({ OAUTH_REGISTRATION: 'on' });
  });
  afterAll(() => running.identity.close());

  test('connects from nothing with its OAuth provider, calls a tool, and refreshes its token', async () => {
    const { identity, browser } = running;
    const client = await startClient([program, `${identity.url}/mcp`]);
    const callback = await consentAt(browser, await client.readLine());
    client.answer(callback.href);
    const { results, isRefreshed } = JSON.parse(await client.readLine());
    for (const result of results)
      expect(result).toMatchObject({
        user: { email: 'admin@example.com' },
        credential: { kind: 'oauth', scopes: ['user:read', 'kb:read', 'crawl:read'] },
      });
    expect(isRefreshed).toBe(true);
    expect((await client.exited)[0]).toBe(0);
  });

  test('the documented program signs in once, also when it is started again and its access token has expired', async () => {
    const { identity, browser } = running;
    const sample = readSample('python', 'python').replace('41998', String(await findFreePort()));
    const folder = await mkdtemp(join(tmpdir(), 'python-client-'));
    const start = () => startClient(['-c', sample, `${identity.url}/mcp`], folder);
    const client = await start();
    const address = (await client.readLine()).replace('Open ', '');
    const page = await fetchPatiently(await consentAt(browser, address));
    expect(await page.text()).toBe('You can close this page.');
    expect(await client.readLine()).toBe('admin@example.com');

    await client.exited;
    expect(await (await start()).readLine()).toBe('admin@example.com');
    // Time passes for identity, and for the program by what it has stored.
    identity.advance(11 * 60_000);
    const file = join(folder, 'tokens.json');
    const stored = JSON.parse(await readFile(file, 'utf8'));
    await writeFile(file, JSON.stringify({ ...stored, expires_at: 1 }));
    expect(await (await start()).readLine()).toBe('admin@example.com');
    await rm(folder, { recursive: true });
  });

  test('acts as a service account with client credentials', async () => {
    const { identity } = running;
    const { application, clientSecret } = await createApplication(identity, await identity.login());
    const client = await startClient([program, `${identity.url}/mcp`, application.clientId, clientSecret]);
    const { results } = JSON.parse(await client.readLine());
    // Without kb:read, which a service account cannot have, although the challenge of the tools names it.
    expect(results[0]).toMatchObject({
      credential: { kind: 'oauth', scopes: ['user:read', 'crawl:read'] },
    });
    expect((await client.exited)[0]).toBe(0);
  });
});
