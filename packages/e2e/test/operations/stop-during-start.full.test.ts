import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { SERVICES } from '@platform/local/services';
import { createTestDatabase, type TestDatabase, waitFor } from '@platform/testing';
import pg from 'pg';
import { root } from '../deploy/chart.js';
import { runCommand } from '../platform/command.js';
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

describe.each(SERVICES.map(({ name }) => name))(`%s as ${processKind}, told to stop`, (service) => {
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
  const waitForLock = () =>
    // prettier-ignore
    waitFor(
      async () =>
        (await client.query('select from pg_locks join pg_database on oid = database where datname = current_database() and not granted')).rows.length > 0,
      { what: 'a wait for the lock' },
    );

  const programs: readonly [string, Program, number][] = [
    ['the service', ['server.js'], 0],
    ['the migration', ['cli.js', 'migrate'], ENDED_BY_SIGTERM],
  ];

  test.each(programs)('while %s loads', async (_what, program, code) => {
    const one = start(program);
    await one.untilHandled();
    // Node sees the signal once it has evaluated the modules, which from version 22 on may be after `main` was called.
    expect([ENDED_BY_SIGTERM, code]).toContain(await one.stop());
    expect(one.output()).not.toMatch(/is ready|unexpected error|shutdown step failed/);
  });

  // prettier-ignore
  test.each(programs)('while %s waits for its database', async (_what, program, code) => {
    const silent = await startSilentServer();
    try {
      const one = start(program, silent.url);
      await waitFor(() => one.output().includes('trying again for 30 s'), { what: 'the line about the database' });
      expect(await one.stop()).toBe(code);
    } finally {
      silent.server.close();
    }
  });

  test('while the migration waits for another one', async () => {
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

  test('while the service checks its schema, and once it is ready', async () => {
    expect(await runCommand(service, ['migrate'], { DATABASE_URL: database.url })).toMatchObject({ code: 0 });
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
});
