import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inspectProcess } from '@platform/embedded';
import { describeWith, startStopwatch, type Stopwatch } from '@platform/testing';
import { living, makeDataDir, type Platform, printed, startPlatform, until } from './platform.js';
import { connectV2, type ToolClient as Agent } from './tool-client.js';

/* MCP-19, CRAWL-46: the demo of `npm start`, on one data folder through several starts. */

const START_MS = 180_000;
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

async function start(hasDemo: boolean, ...args: string[]): Promise<void> {
  platform = await startPlatform({ dataDir: dataDir.path, hasDemo, args });
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

async function connect(...scopes: string[]): Promise<Agent> {
  const { token } = await call('POST', '/api/v1/personal-access-tokens', { name: 'agent', scopes });
  return connectV2(`http://127.0.0.1:${platform.port}/mcp`, { authorization: `Bearer ${token.accessToken}` });
}

beforeAll(async () => {
  dataDir = await makeDataDir();
});
afterAll(async () => {
  platform.child.kill('SIGTERM');
  await platform.exited;
  await dataDir.remove();
});

const CRAWL = '/api/v1/crawlingManager';
/** Words that the code of this repository does not have. */
const [PURR, BARK] = ['pur'.repeat(3), 'bar'.repeat(3)];

async function search(agent: Agent, query: string): Promise<string> {
  const result = await agent.call('knowledge__search', { query });
  return result.content[0]?.text ?? '';
}

async function findNewestRun(connector: string) {
  const { data } = await call('GET', `${CRAWL}/${connector}/runs`);
  return data[0];
}

describe('a start', () => {
  let stopwatch: Stopwatch;
  beforeAll(async () => {
    await start(true);
    stopwatch = startStopwatch();
  }, START_MS);

  test('shows within a minute how a schedule becomes an answer, and the answer leads back to its run', async () => {
    const agent = await connect('kb:read');
    await until(async () => (await search(agent, 'mount an MCP server')).includes('connect/mcp-servers.md'));
    expect(stopwatch.stop()).toBeLessThan(60_000);
    const found = await search(agent, 'mount an MCP server');
    const [, runId] = /Crawled by \S+\/knowledge\/files_1\?run=(\S+)$/m.exec(found) ?? [];
    const { data: crawled } = await call('GET', `${CRAWL}/files_1/runs/${runId}`);
    expect(crawled).toMatchObject({
      outcome: 'completed',
      mode: 'full',
      worker: 'pull',
      claimedBy: 'demo-connector',
    });
    expect(crawled.items).toBeGreaterThan(10);
    expect(crawled.bytes).toBeGreaterThan(10_000);
    expect(crawled.event.payload).toMatchObject({ runId, mode: 'full', items: String(crawled.items) });
    const page = await agent.call('knowledge__read_page', { path: 'connect/mcp-servers.md' });
    expect(page.content[0]?.text).toMatch(/^# Mounting MCP servers[^]*Crawled by/);
    await agent.close();
  });

  /* The pages that answer each question, as somebody asks who has just started the platform. */
  const answers: readonly (readonly [question: string, ...pages: string[]])[] = [
    ['how do I revoke a token', 'connect/mcp-clients.md'],
    ['rotate signing keys', 'code_1:k8s/README.md'],
    ['how do I mount an MCP server', 'connect/mcp-servers.md'],
    ['how do I connect Claude Code', 'connect/claude-code.md'],
    ['schedule a crawl every night', 'schedules.md'],
    ['send mail through Google Workspace', 'connect/smtp-google-workspace.md'],
    ['crawl GitHub and Jira with Airbyte', 'connect/crawl-airbyte.md'],
    ['sign in with our identity provider', 'sign-in-provider.md'],
    ['how do I write a connector', 'connect/your-first-connector.md', 'connect/crawl-workers.md'],
    ['who may find a document', 'connect/documents.md'],
    ['install it on Kubernetes', 'code_1:k8s/README.md'],
    ['back up and restore', 'code_1:k8s/README.md', 'compose.md'],
  ];

  test('CRAWL-63 answers twelve questions of a newcomer with the right page among the first three', async () => {
    const agent = await connect('kb:read');
    // The code is crawled as well.
    await until(async () => (await search(agent, 'createFindClaims')).includes('code_1:services/'));
    const found = await Promise.all(
      answers.map(async ([question, ...pages]) => {
        const paths = [...(await search(agent, question)).matchAll(/^- .*\(([^()]+)\)$/gm)].map(
          ([, path = '']) => path,
        );
        return [question, paths.slice(0, 3).some((path) => pages.includes(path)) || paths.slice(0, 3)];
      }),
    );
    expect(found).toEqual(answers.map(([question]) => [question, true]));
    // The first result of the question that the start prints.
    expect(await search(agent, 'how do I revoke a token')).toMatch(
      /^- Connecting MCP clients › Revoke a token \(connect\/mcp-clients\.md\)/,
    );
    await agent.close();
  });

  test('a token can add a note only with semantic:write', async () => {
    const note = { title: 'Lunch', text: 'The canteen serves zucchini.' };
    const reader = await connect('kb:read');
    expect((await reader.call('knowledge__add_note', note)).isError).toBe(true);
    const writer = await connect('semantic:write');
    expect(await writer.listNames()).toContain('knowledge__add_note');
    expect((await writer.call('knowledge__add_note', note)).isError).toBeFalsy();
    expect(await search(reader, 'zucchini')).toContain('note:');
    await Promise.all([reader.close(), writer.close()]);
  });

  test('CRAWL-61 shows in a line what the same question finds for two people', async () => {
    await until(() => platform.output().includes('One question, two people'));
    expect(platform.output()).toContain(
      'finds releasing.md for admin@example.com, who is in the group Maintainers, and not for sam@example.com.',
    );
  });

  describeWith('curl', 'the lines that it prints', () => {
    test('search in a POSIX shell', async () => {
      const lines =
        /^the crawl that it comes from\.\n\n([^]*)\nStop with/m.exec(platform.output())?.[1] ?? '';
      const { stdout } = await run('sh', ['-euc', lines]);
      expect(JSON.parse(stdout).result.content[0].text).toContain('(');
    });
  });
});

describe('a later start without it', () => {
  beforeAll(async () => {
    const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 15 };
    await call('POST', `${CRAWL}/code_1/schedule`, { scheduleConfig, worker: 'pull' });
    await stop();
    await start(false);
  }, START_MS);

  test('disables the mount, and pauses its own schedule, but not the one of an administrator', async () => {
    const { data } = await call('GET', '/api/v1/mcp-servers');
    expect(data).toMatchObject([{ name: 'knowledge', isEnabled: false }]);
    const agent = await connect('kb:read', 'user:read');
    expect(await agent.listNames()).toEqual(['whoami']);
    await agent.close();
    const { data: own } = await call('GET', `${CRAWL}/files_1/schedule`);
    const { data: replaced } = await call('GET', `${CRAWL}/code_1/schedule`);
    expect([own.pausedAt, replaced.pausedAt]).toEqual([expect.any(String), null]);
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
    await writeFile(join(folder, 'cats.md'), `# Cats\nThey ${PURR}.`);
    await writeFile(join(folder, 'dogs.html'), `<title>Dogs</title><p>They <b>${BARK}</b>.`);
    // It is refused, as a revoked token is.
    const path = join(dataDir.path, 'demo.json');
    const state = JSON.parse(await readFile(path, 'utf8')) as object;
    await writeFile(path, JSON.stringify({ ...state, workToken: 'none' }));
    await start(true, '--demo-folder', folder);
  }, START_MS);

  test('crawls it, drops what is gone, and keeps the decisions of the administrator', async () => {
    const agent = await connect('kb:read', 'semantic:write');
    expect(await agent.listNames()).toEqual(['knowledge__read_page', 'knowledge__search']);
    await until(async () => (await search(agent, PURR)).includes('cats.md'));
    expect(await search(agent, BARK)).toContain('Dogs (dogs.html)');
    expect(await search(agent, 'mount an MCP server')).not.toContain('(connect/mcp-servers.md)');
    expect(await findNewestRun('files_1')).toMatchObject({ mode: 'incremental', items: 2 });
    await agent.close();
  });

  test('a full crawl drops from the index what it has not seen', async () => {
    const agent = await connect('kb:read');
    await rm(join(folder, 'cats.md'));
    const { data } = await call('POST', `${CRAWL}/files_1/run`, { mode: 'full' });
    expect(data).toHaveProperty('runId');
    await until(async () => !(await search(agent, PURR)).includes('cats.md'));
    expect(await search(agent, BARK)).toContain('dogs.html');
    const { data: full } = await call('GET', `${CRAWL}/files_1/runs/${data.runId}`);
    expect(full).toMatchObject({ mode: 'full', items: 1, deleted: 0 });
    await agent.close();
  });

  test('replaces the service account whose token is refused', async () => {
    expect(platform.output()).not.toContain('the demo does not run');
    const { data: accounts } = await call('GET', '/api/v1/service-accounts');
    expect(accounts).toMatchObject([{ name: 'Demo' }]);
  });

  test('goes on without a program of the demo that dies again and again', async () => {
    const findConnector = async () => {
      const found = await Promise.all((await platform.descendants()).map(inspectProcess));
      return found.find((one) => one?.command.includes('demo-connector'))?.pid;
    };
    const killed = new Set<number>();
    await until(async () => {
      const pid = await findConnector();
      if (pid !== undefined && !killed.has(pid)) {
        process.kill(pid, 'SIGKILL');
        killed.add(pid);
      }
      return platform.output().includes('demo-connector is not started again');
    });
    expect(killed.size).toBe(5);
    expect((await call('GET', '/api/v1/users/me')).user.id).toEqual(expect.any(String));
  });
});
