import { chmod, mkdir, mkdtemp, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type EmbeddedPostgres, type EmbeddedPostgresOptions, startEmbeddedPostgres } from '../src/index.js';

let root: string;
let dataDir: string;
const running: EmbeddedPostgres[] = [];

/** For the tests that can share a folder, because initialising one takes a second. */
const common = await mkdtemp(join(await realpath(tmpdir()), 'embedded-common-'));
afterAll(() => rm(common, { recursive: true, force: true }));
beforeEach(async () => {
  root = await mkdtemp(join(await realpath(tmpdir()), 'embedded-test-'));
  dataDir = join(root, 'data');
});

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
  await rm(root, { recursive: true, force: true });
});

const startCommon = (options: Partial<EmbeddedPostgresOptions> = {}) =>
  start({ dataDir: join(common, 'data'), ...options });

async function start(options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, settings: { fsync: 'off' }, ...options });
  running.push(server);
  return server;
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

test('data and password survive a restart on the same port, and only the owner can read the password that a login needs', async () => {
  const first = await startCommon();
  await query(first.url(), 'create table kept as select 7 as value');
  const without = new URL(first.url());
  without.password = '';
  await expect(query(without.href, 'select 1')).rejects.toThrow(/password/);
  const { mode } = await stat(join(common, 'data/platform-superuser-password'));
  expect(mode & 0o777).toBe(0o600);
  await first.stop();
  await expect(first.exited).resolves.toEqual({ code: 0, signal: null });

  const second = await startCommon({ port: first.port });
  expect(second.url()).toBe(first.url());
  await expect(query(second.url(), 'select value from kept')).resolves.toEqual([{ value: 7 }]);
});

test('refuses a directory with foreign content, and does not change it', async () => {
  await mkdir(dataDir);
  await writeFile(join(dataDir, 'letter.txt'), 'mine');
  await expect(start()).rejects.toThrow(/is not empty/);
  await expect(readdir(dataDir)).resolves.toEqual(['letter.txt']);
});

test('initialises again after a crash, in a private folder and in a public one', async () => {
  await chmod(root, 0o700);
  const leftover = join(root, 'data.initialising-Xy12', 'cluster');
  await mkdir(leftover, { recursive: true });
  await writeFile(join(leftover, 'PG_VERSION'), '18\n');
  await mkdir(dataDir);
  await expect(query((await start()).url(), 'select 1 as one')).resolves.toEqual([{ one: 1 }]);
  await expect(readdir(root)).resolves.toEqual(['data']);
  await chmod(root, 0o755);
  const open = await start({ dataDir: join(root, 'deep', 'er') });
  await expect(query(open.url(), 'select 1 as one')).resolves.toEqual([{ one: 1 }]);
});

test('stop ends open transactions, can be called twice, and removes a temporary directory', async () => {
  const server = await startCommon({ isTemporary: true });
  const client = new pg.Client({ connectionString: server.url() });
  const isClosed = new Promise<void>((resolve) => client.on('error', () => resolve()));
  await client.connect();
  await client.query('begin');
  await Promise.all([server.stop(), server.stop()]);
  await isClosed;
  await expect(stat(join(common, 'data'))).rejects.toThrow(/ENOENT/);
});
