import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createTestDatabase } from '@platform/testing';
import pg from 'pg';
import { fileURLToPath } from 'node:url';
import { createPool, isDatabaseUnavailable } from '../src/index.js';

const database = await createTestDatabase({
  template: 'pool',
  migrationsDir: fileURLToPath(new URL('.', import.meta.url)),
  migrate: async (url) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query('create table written (n int)');
    await client.end();
  },
});
const other = new pg.Client({ connectionString: database.url });
await other.connect();
afterAll(async () => {
  await other.end();
  await database.drop();
});

/** Forwards bytes until it is set to withhold the server's responses. */
async function startProxy(target: URL) {
  let isHeld = false;
  const held: (() => void)[] = [];
  const sockets: Socket[] = [];
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    sockets.push(client, upstream);
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
    client.pipe(upstream);
    upstream.on('data', (chunk) => {
      if (isHeld) held.push(() => client.write(chunk));
      else client.write(chunk);
    });
    client.on('close', () => upstream.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    hold: () => {
      isHeld = true;
    },
    letGo: () => {
      isHeld = false;
      for (const pass of held.splice(0)) pass();
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Prisma's adapter releases a connection whose commit and rollback timed out without an error. */
test('a connection released with an open transaction is not reused', async () => {
  const target = new URL(database.url);
  const proxy = await startProxy(target);
  const through = new URL(database.url);
  through.host = `127.0.0.1:${proxy.port}`;
  const log = { warn: () => undefined };
  const options = { connectionString: through.href, applicationName: 'test', maxConnections: 1, log };
  const pool = createPool(options);
  try {
    const client = await pool.connect();
    await client.query('begin');
    proxy.hold();
    await expect(client.query('insert into written values (2)')).rejects.toThrow(/timeout/i);
    await expect(client.query('rollback')).rejects.toThrow(/timeout/i);
    client.release();
    proxy.letGo();
    await pool.query('insert into written values (3)');
    expect((await other.query('select n from written')).rows).toEqual([{ n: 3 }]);
  } finally {
    // Needed after a failure, too: an open transaction would block the truncate, and an open pool the run.
    proxy.close();
    await pool.end();
    await other.query('truncate written');
  }
});

test('a connection that breaks while in use fails its user rather than the process', async () => {
  const pool = createPool({
    connectionString: database.url,
    applicationName: 'test',
    maxConnections: 1,
    log: { warn: () => undefined },
  });
  const client = await pool.connect();
  await client.query('begin');
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const closed = new Promise((resolve) => client.once('end', resolve));
  await other.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
  await closed;
  const failure = await client.query('select 1').catch((error: unknown) => error);
  expect(isDatabaseUnavailable(failure)).toBe(true);
  client.release(true);
  expect((await pool.query('select 1 as alive')).rows).toEqual([{ alive: 1 }]);
  await pool.end();
});

test('waiting for a connection and the statement have one deadline together', async () => {
  const timeoutMs = 2_000;
  const pool = createPool({
    connectionString: database.url,
    applicationName: 'test',
    maxConnections: 1,
    timeoutMs,
    log: { warn: () => undefined },
  });
  try {
    const holder = await pool.connect();
    setTimeout(() => holder.release(), 0.75 * timeoutMs);
    const startedAt = performance.now();
    const failure = await pool.query('select pg_sleep(30)').catch((error: unknown) => error);
    expect(isDatabaseUnavailable(failure)).toBe(true);
    expect(performance.now() - startedAt).toBeLessThan(1.5 * timeoutMs);
    expect((await pool.query<{ n: number }>('select $1::int as n', [3])).rows).toEqual([{ n: 3 }]);
  } finally {
    await pool.end();
  }
});

test('a server that has become a standby, a deadlock and a serialization failure are worth another try', async () => {
  const pool = createPool({
    connectionString: database.url,
    applicationName: 'test',
    maxConnections: 1,
    log: { warn: () => undefined },
  });
  const fail = (statement: string) => pool.query(statement).catch((error: unknown) => error);
  const standby = await fail('begin read only; insert into written values (1); commit');
  expect([(standby as { code?: string }).code, isDatabaseUnavailable(standby)]).toEqual(['25006', true]);
  for (const code of ['40P01', '40001'])
    expect(isDatabaseUnavailable(await fail(`do $$ begin raise sqlstate '${code}'; end $$`))).toBe(true);
  expect(isDatabaseUnavailable(await fail('select 1 / 0'))).toBe(false);
  await pool.end();
});
