import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePort } from '@platform/embedded';
import { makeDataDir, type Platform, startPlatform } from './platform.js';

/* Tests what the launcher rejects before it starts a server. */
const run = promisify(execFile);

let dataDir: Awaited<ReturnType<typeof makeDataDir>>;
const started: Platform[] = [];

async function start(options: Partial<Parameters<typeof startPlatform>[0]>): Promise<Platform> {
  const platform = await startPlatform({ dataDir: dataDir.path, ...options });
  started.push(platform);
  await platform.settled;
  return platform;
}

beforeAll(async () => {
  dataDir = await makeDataDir();
});

afterAll(async () => {
  for (const platform of started) platform.child.kill('SIGTERM');
  await Promise.all(started.map((platform) => platform.exited));
  await dataDir.remove();
});

test('prints the help at once', async () => {
  const { stdout } = await run(process.execPath, ['packages/local/start.mjs', '--help']);
  expect(stdout).toMatch(/^Starts the whole platform[^]*--data-dir[^]*DATA_DIR/);
});

test.each([
  [['--nonsense'], "Unknown option '--nonsense'"],
  [['--port', '99999'], '--port must be a port between 1 and 65535, not "99999"'],
  [['--inbox-port', '8080'], 'must be three ports'],
  [
    ['--redis', '--redis-url', 'redis://a:1'],
    '--redis starts a server, and --redis-url (REDIS_URL) names one',
  ],
  [['--kafka-brokers', 'kafka'], '--kafka-brokers (KAFKA_BROKERS) must be like host1:9092'],
  [['--demo-folder', '/no/such/folder'], '--demo-folder must be a folder of Markdown, HTML or text files'],
  [['--demo-folder', 'README.md'], '--demo-folder must be a folder'],
  [['--no-demo', '--demo-folder', 'docs'], 'give one or the other'],
  [['--database-url', 'mysql://x/y'], '--database-url (DATABASE_URL) must be like postgresql://'],
])('rejects %s with one line and exit code 2', async (args, line) => {
  const failure = await run(process.execPath, ['packages/local/start.mjs', ...args]).catch(
    (error: unknown) => error,
  );
  const { code, stderr } = failure as { code: number; stderr: string };
  expect(code).toBe(2);
  expect(stderr).toMatch(/^[^\n]+\n$/);
  expect(stderr).toContain(line);
});

test('--fresh deletes nothing in a folder that the launcher did not create', async () => {
  const foreign = await makeDataDir();
  await mkdir(foreign.path);
  await writeFile(join(foreign.path, 'thesis.txt'), 'mine');
  const platform = await start({ dataDir: foreign.path, args: ['--fresh'] });
  expect(await platform.exited).toBe(1);
  expect(platform.output()).toContain('holds something else');
  expect(await readdir(foreign.path)).toEqual(['thesis.txt']);
  await foreign.remove();
});

test('reports a server that cannot be prepared, and what to do', async () => {
  const closedPort = await findFreePort();
  const other = await makeDataDir();
  const url = `postgresql://nobody:secret@127.0.0.1:${closedPort}/postgres`;
  const platform = await start({ dataDir: other.path, args: ['--database-url', url] });
  expect(await platform.exited).toBe(1);
  expect(platform.output()).toMatch(/can't be prepared: .*ECONNREFUSED.*DATABASE_URL/);
  expect(platform.output()).not.toContain('secret');
  await other.remove();
});

test('reports a taken port before anything is installed or built', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  const platform = await start({ port });
  expect(await platform.exited).toBe(1);
  expect(platform.output()).not.toContain('Building');
  other.close();
});
