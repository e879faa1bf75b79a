import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describeWith } from '@platform/testing';
import { START_MS } from './agent-platform.js';
import { living, makeDataDir, type Platform, printed, startPlatform, until } from './platform.js';
import { connectors } from './tool-client.js';

/* MCP-19: `npm start -- --demo-knowledge`, on one data folder through several starts. */

const run = promisify(execFile);

let dataDir: Awaited<ReturnType<typeof makeDataDir>>;
let platform: Platform;
let session: string;

async function call(method: string, path: string, body?: object) {
  const response = await fetch(`http://127.0.0.1:${platform.port}${path}`, {
    method,
    headers: { authorization: `Bearer ${session}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  // The tests examine responses of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  return (await response.json()) as any;
}

async function start(...args: string[]): Promise<void> {
  platform = await startPlatform({ dataDir: dataDir.path, args });
  await platform.settled;
  expect(platform.output()).toContain('The platform is ready');
  const [email, password] = [printed(platform, 'Admin'), printed(platform, 'Password')];
  session = (await call('POST', '/api/v1/auth/login', { email, password })).accessToken;
}

async function stop(): Promise<void> {
  const pids = await platform.descendants();
  platform.child.kill('SIGTERM');
  expect(await platform.exited).toBe(0);
  await until(() => living(pids).length === 0);
}

async function connect(version: string, scopes: readonly string[]) {
  const { token } = await call('POST', '/api/v1/personal-access-tokens', { name: 'agent', scopes });
  const connector = connectors.find(([name]) => name === version)?.[1];
  if (!connector) throw new Error(version);
  return connector(`http://127.0.0.1:${platform.port}/mcp`, { authorization: `Bearer ${token.accessToken}` });
}

beforeAll(async () => {
  dataDir = await makeDataDir();
});
afterAll(async () => {
  platform.child.kill('SIGTERM');
  await platform.exited;
  await dataDir.remove();
});

describe('a start with --demo-knowledge alone', () => {
  beforeAll(() => start('--demo-knowledge'), START_MS);

  test.each(connectors)(
    "an agent on the %s client searches the platform's own documentation",
    async (version) => {
      const agent = await connect(version, ['kb:read', 'semantic:write']);
      expect(await agent.listNames()).toEqual([
        'knowledge__add_note',
        'knowledge__read_page',
        'knowledge__search',
      ]);
      const found = await agent.call('knowledge__search', { query: 'mount an MCP server' });
      expect(found.isError).toBeFalsy();
      expect(found.content[0]?.text).toContain('connect/mcp-servers.md');
      const page = await agent.call('knowledge__read_page', { path: 'connect/mcp-servers.md' });
      expect(page.content[0]?.text).toMatch(/^# Mounting MCP servers/);
      await agent.close();
    },
  );

  test('a token can add a note only with semantic:write', async () => {
    const note = { title: 'Lunch', text: 'The canteen serves zucchini.' };
    const reader = await connect('v2', ['kb:read']);
    expect((await reader.call('knowledge__add_note', note)).isError).toBe(true);
    const writer = await connect('v2', ['semantic:write']);
    expect((await writer.call('knowledge__add_note', note)).isError).toBeFalsy();
    expect((await reader.call('knowledge__search', { query: 'zucchini' })).content[0]?.text).toContain(
      'note:',
    );
    await Promise.all([reader.close(), writer.close()]);
  });

  describeWith('curl', 'the lines that it prints', () => {
    test('search in a POSIX shell', async () => {
      const lines = /^An agent's search[^\n]*\n([^]*)\nStop with/m.exec(platform.output())?.[1] ?? '';
      const { stdout } = await run('sh', ['-euc', lines]);
      expect(JSON.parse(stdout).result.content[0].text).toContain('(');
    });
  });
});

describe('a later start without it', () => {
  beforeAll(async () => {
    await stop();
    await start();
  }, START_MS);

  test('disables the mount', async () => {
    const { data } = await call('GET', '/api/v1/mcp-servers');
    expect(data).toMatchObject([{ name: 'knowledge', isEnabled: false }]);
    const agent = await connect('v2', ['kb:read', 'user:read']);
    expect(await agent.listNames()).toEqual(['whoami']);
    await agent.close();
  });
});

describe('a later start with another folder', () => {
  let folder: string;
  beforeAll(async () => {
    const { data } = await call('GET', '/api/v1/mcp-servers');
    // The administrator's decisions are kept.
    const body = { tools: [{ name: 'add_note', scope: 'none' }] };
    await call('PATCH', `/api/v1/mcp-servers/${data[0].id}/tools`, body);
    await stop();
    folder = join(dataDir.path, '../pages');
    await mkdir(folder);
    await start('--demo-knowledge', folder);
  }, START_MS);

  test('searches it, and keeps the decisions of the administrator', async () => {
    expect(platform.output()).toContain('has no Markdown files yet');
    const agent = await connect('v2', ['kb:read', 'semantic:write']);
    expect(await agent.listNames()).toEqual(['knowledge__read_page', 'knowledge__search']);
    const search = async (query: string) =>
      (await agent.call('knowledge__search', { query })).content[0]?.text ?? '';
    expect(await search('mount an MCP server')).toBe('Nothing was found.');
    await writeFile(join(folder, 'cats.md'), '# Cats\nThey purr.');
    await until(async () => (await search('purr')).includes('cats.md'));
    await agent.close();
  });
});
