import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { createTestDatabase } from '@platform/testing';
import pg from 'pg';
import { connectAtStart } from '../src/data/connect-at-start.js';

let server: Server | undefined;
const lines: string[] = [];
const log = { warn: (_fields: unknown, line?: string) => void lines.push(line ?? '') };

// oxfmt-ignore
const database = await createTestDatabase({ template: 'empty', migrationsDir: `${import.meta.dirname}/fixtures`, migrate: async () => undefined });
afterEach(() => {
  server?.close();
  lines.length = 0;
});
afterAll(() => database.drop());

/** @returns a function that connects to the test's database through a port on which nothing may listen yet. */
function connectThrough(port: number, change: (url: URL) => void = () => undefined) {
  const url = new URL(database.url);
  Object.assign(url, { hostname: '127.0.0.1', port: String(port) });
  change(url);
  return async () => {
    const client = new pg.Client({ connectionString: url.href, connectionTimeoutMillis: 500 });
    await client.connect();
    return client;
  };
}

async function listen(port: number, isSilent = false): Promise<number> {
  const { hostname, port: target } = new URL(database.url);
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    if (isSilent) return;
    const onward = connect(Number(target), hostname).on('error', () => socket.destroy());
    socket.pipe(onward).pipe(socket);
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

/** @returns a port on which nothing listens. */
async function findClosedPort(): Promise<number> {
  const port = await listen(0);
  if (server) await once(server.close(), 'close');
  return port;
}

test('connects to a database that starts later, and logs once that it waits', async () => {
  const port = await findClosedPort();
  const connecting = connectAtStart(connectThrough(port), log);
  setTimeout(() => void listen(port), 1_200);
  const client = await connecting;
  expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  await client.end();
  expect(lines).toEqual([`the database can't be reached: trying again for 30 s`]);
});

test.each(['closed', 'silent'])('gives up on a port that stays %s when the time is over', async (kind) => {
  const port = kind === 'closed' ? await findClosedPort() : await listen(0, true);
  const startedAt = performance.now();
  await expect(connectAtStart(connectThrough(port), log, 2_000)).rejects.toThrow(
    kind === 'closed' ? /ECONNREFUSED/ : /timeout expired/,
  );
  expect(performance.now() - startedAt).toBeGreaterThan(1_400);
  expect(lines).toHaveLength(1);
});

test('fails at once with an error that waiting cannot fix', async () => {
  const toNowhere = connectThrough(await listen(0), (url) => (url.pathname = '/no_such_database'));
  await expect(connectAtStart(toNowhere, log)).rejects.toMatchObject({ code: '3D000' });
  expect(lines).toEqual([]);
});
