import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { isDatabaseUnavailable } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import pg from 'pg';
import { openResources } from '../src/resources.js';
import { createMailDatabase } from './mail.js';

/** Stands between the service and its database, and cuts the connections without a word of either. */
async function startCable(databaseUrl: string) {
  const { hostname, port } = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const database = connect(Number(port), hostname);
    for (const socket of [client, database]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
    client.pipe(database).pipe(client);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    cut: () => sockets.forEach((socket) => socket.resetAndDestroy()),
    close: () => server.close(),
  };
}

test('a connection that is cut during a statement is an unavailable database, whoever has sent the statement', async () => {
  const database = await createMailDatabase();
  const cable = await startCable(database.url);
  const observer = new pg.Client({ connectionString: database.url });
  await observer.connect();
  const { prisma, pool } = openResources({
    databaseUrl: cable.url,
    maxConnections: 8,
    timeoutMs: 60_000,
    log: { warn: () => undefined } as never,
    shutdown: { on: () => undefined } as never,
  });
  const statements: readonly (() => Promise<unknown>)[] = [
    () => prisma.$queryRaw`select 1 as one from (select pg_sleep(60)) slow`,
    () => prisma.$executeRaw`delete from mails where (select pg_sleep(60)) is null`,
    () => prisma.$transaction((tx) => tx.$queryRaw`select 1 as one from (select pg_sleep(60)) slow`),
    () => pool.query('select pg_sleep(60)'),
  ];
  const failures = statements.map((send) => send().then(() => 'no failure', isDatabaseUnavailable));
  const sleeping = `select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`;
  await waitFor(async () => (await observer.query(sleeping)).rowCount === statements.length, { what: 'the statements' });
  cable.cut();
  expect(await Promise.all(failures)).toEqual(statements.map(() => true));
  cable.close();
  await pool.end();
  await observer.end();
  await database.drop();
}); // oxfmt-ignore
