import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createTestDatabase, type TestDatabase, waitFor } from '@platform/testing';
import pg from 'pg';
import { root } from '../deploy/chart.js';
import { runCommand, runProgram } from '../platform/command.js';
import { type ProcessOne, processKind, startProcessOne } from '../platform/process-one.js';

const environment = {
  HOST: '127.0.0.1',
  PORT: '0',
  IDENTITY_URL: 'http://127.0.0.1:9',
  SERVICE_CLIENT_SECRET: 's'.repeat(40),
  ENCRYPTION_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
};
/** The exit status in a shell of a process that was ended by signal 15. */
const ENDED_BY_SIGTERM = 143;

/** Starts a server that accepts connections and never answers, as behind a network policy that applies late. */
async function startSilentServer(): Promise<{ readonly server: Server; readonly url: string }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket.on('error', () => undefined)));
  server.once('close', () => sockets.forEach((socket) => socket.destroy()));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { server, url: `postgresql://x:x@127.0.0.1:${(server.address() as AddressInfo).port}/x` };
}

/** The exit code of a program whose database does not have the required schema. */
const NOT_MIGRATED = 78;

/** Makes the database fail in the middle of a migration: there is no room for more than two tables. */
const full = `
  create function refuse() returns event_trigger language plpgsql as $$ begin
    if (select count(*) from pg_tables where schemaname = 'public') > 2 then raise exception 'no room'; end if;
  end $$;
  create event trigger full_disk on ddl_command_end execute function refuse()`;

/** All services start and stop by the same code; this one opens the most. */
const service = 'crawl';
let database: TestDatabase;
let client: pg.Client;
let started: ProcessOne | undefined;

beforeAll(async () => {
  const migrationsDir = join(root, 'services', service, 'prisma/migrations');
  database = await createTestDatabase({ template: 'empty', migrationsDir, migrate: async () => undefined });
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterEach(() => started?.kill());
afterAll(async () => {
  await client.end();
  await database.drop();
});

type Program = Parameters<typeof startProcessOne>[1];
const start = (program: Program, url = database.url) =>
  (started = startProcessOne(service, program, { ...environment, DATABASE_URL: url }));
const env = () => ({ ...environment, DATABASE_URL: database.url });
/** @returns what a start that must fail says, to people. */
async function failToStart(more: NodeJS.ProcessEnv, expectedCode: number): Promise<string[]> {
  const { code, stderr } = await runProgram(service, 'server.js', [], more);
  expect([code, stderr]).toEqual([expectedCode, expect.not.stringMatching(/^\s+at /m)]);
  return stderr.trim().split('\n');
}
const waitForLock = () =>
  // oxfmt-ignore
  waitFor(
    async () =>
      (await client.query('select from pg_locks join pg_database on oid = database where datname = current_database() and not granted')).rows.length > 0,
    { what: 'a wait for the lock' },
  );

const programs: readonly [string, Program, number][] = [
  ['the service', ['server.js'], 0],
  ['the migration', ['cli.js', 'migrate'], ENDED_BY_SIGTERM],
];

test.each(programs)(`as ${processKind}, stops while %s loads`, async (_what, program, code) => {
  const one = start(program);
  await one.untilHandled();
  // Node sees the signal once it has evaluated the modules, which from version 22 on may be after `main` was called.
  expect([ENDED_BY_SIGTERM, code]).toContain(await one.stop());
  expect(one.output()).not.toMatch(/is ready|unexpected error|shutdown step failed/);
});

// oxfmt-ignore
test.each(programs)(`as ${processKind}, stops while %s waits for its database`, async (_what, program, code) => {
  const silent = await startSilentServer();
  try {
    const one = start(program, silent.url);
    await waitFor(() => one.output().includes('trying again for 30 s'), { what: 'the line about the database' });
    expect(await one.stop()).toBe(code);
  } finally {
    silent.server.close();
  }
});

test(`as ${processKind}, stops while the migration waits for another one`, async () => {
  // This is not in a transaction, which would see only one state of pg_stat_activity.
  await client.query('select pg_advisory_lock(72707369)');
  try {
    const one = start(['cli.js', 'migrate']);
    const polls = `select from pg_stat_activity where datname = current_database() and query like 'select pg_try_advisory_lock%'`;
    await waitFor(async () => (await client.query(polls)).rowCount === 1, { what: 'a try to lock' });
    expect(await one.stop()).toBe(ENDED_BY_SIGTERM);
  } finally {
    await client.query('select pg_advisory_unlock(72707369)');
  }
  expect((await client.query(`select from pg_tables where schemaname = 'public'`)).rows).toEqual([]);
});

test('exits without its required variables, and names all of them, without values', async () => {
  const secret = 'x'.repeat(40);
  const lines = await failToStart({ PORT: 'x', LOG_LEVEL: secret, OTEL_TRACES_SAMPLER: secret }, 1);
  expect(lines[0]).toBe('The environment is not right:');
  const named = lines.slice(1).map((line) => /^ {2}- (\w+) (?:is missing: it )?must be /.exec(line)?.[1]);
  expect(named).toEqual(expect.arrayContaining(['PORT', 'LOG_LEVEL', 'OTEL_TRACES_SAMPLER', 'DATABASE_URL']));
  expect(named).not.toContain(undefined);
  expect(lines.join()).not.toContain(secret);
});

test('a failed migration is rolled back and says why; the service does not start until it has succeeded', async () => {
  await client.query(full);
  const failed = await runCommand(service, ['migrate'], env());
  // Unlike a schema that does not fit, it may succeed when it is run again.
  expect([failed.code, failed.stderr]).toEqual([
    1,
    expect.stringMatching(/^The migration \w+_initial failed and was rolled back: no room\n$/),
  ]);
  const tables = `select tablename from pg_tables where schemaname = 'public' and tablename not like '\\_%'`;
  expect((await client.query(tables)).rows).toEqual([]);
  expect(await failToStart(env(), NOT_MIGRATED)).toEqual([
    expect.stringMatching(/^The database lacks the migration \w+\. Run the command "migrate"/),
  ]);
  await client.query('drop event trigger full_disk');
  const again = await runCommand(service, ['migrate'], env());
  expect([again.code, again.stdout]).toEqual([0, expect.stringMatching(/^applied: \w+_initial/)]);
});

test('neither the service nor the migration starts on a newer schema', async () => {
  const name = '20990101000000_next';
  await client.query(
    `insert into _prisma_migrations (id, checksum, migration_name, finished_at) values ('x', 'x', $1, now())`,
    [name],
  );
  const newer = `The database is newer than this program: it has the migration ${name}. Run a newer version.`;
  expect(await failToStart(env(), NOT_MIGRATED)).toEqual([newer]);
  const { code, stderr } = await runCommand(service, ['migrate'], env());
  expect([code, stderr]).toEqual([NOT_MIGRATED, `${newer}\n`]);
  await client.query('delete from _prisma_migrations where migration_name = $1', [name]);
});

test('between a restore and after-restore the service does not start, and after-restore ends the cursors once', async () => {
  const readEpoch = async () => (await client.query<{ epoch: string }>('select epoch from outbox.head')).rows[0]?.epoch;
  const before = await readEpoch();
  expect((await runCommand(service, ['after-restore', '--if-pending'], env())).code).toBe(0);
  expect(await readEpoch()).toBe(before);
  // As the restore does, in its transaction.
  await client.query('create table public._restore_pending ()');
  expect(await failToStart(env(), NOT_MIGRATED)).toEqual([
    'The database was restored from a backup. Run the command "after-restore" of this service first.',
  ]);
  const run = () => runCommand(service, ['after-restore', '--if-pending'], env());
  expect((await run()).code).toBe(0);
  const after = await readEpoch();
  expect(after).not.toBe(before);
  expect([(await run()).code, await readEpoch()]).toEqual([0, after]);
  const ready = start(['server.js']);
  await waitFor(() => ready.output().includes(`${service} is ready`), { what: 'the start' });
  expect([await ready.stop(), await readEpoch()]).toEqual([0, after]);
}); // oxfmt-ignore

test(`as ${processKind}, stops while the service checks its schema, and once it is ready`, async () => {
  await client.query('begin');
  await client.query('lock table _prisma_migrations');
  const looking = start(['server.js']);
  await waitForLock();
  expect(await looking.stop()).toBe(0);
  await client.query('rollback');
  expect(looking.output()).toContain('"msg":"shut down"');
  expect(looking.output()).not.toMatch(/is ready|unexpected error|shutdown step failed/);
  const ready = start(['server.js']);
  await waitFor(() => ready.output().includes(`${service} is ready`), {
    what: 'the start',
  });
  expect(await ready.stop()).toBe(0);
});
