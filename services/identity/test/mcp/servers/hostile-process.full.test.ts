import { callUrl, waitFor } from '@platform/testing';
import pg from 'pg';
import { admin, createIdentityDatabase, type IdentityUnderTest } from '../../identity.js';
import { environmentFor, type Server, startServer } from '../../process/process.js';
import { attacks, type HostileServer, startHostileServer } from './hostile-server.js';
import { ALLOW_LOCAL, createAgent, createMounts } from './platform.js';

/** The limits of the image: see the Dockerfile. */
const IMAGE_LIMITS = {
  MALLOC_ARENA_MAX: '2',
  NODE_OPTIONS: '--max-old-space-size=256 --max-semi-space-size=8',
};

let server: Server;
let session: string;
let hostile: HostileServer;
let mounts: ReturnType<typeof createMounts>;
let agent: ReturnType<typeof createAgent>;

async function start(): Promise<void> {
  server = await startServer(environment);
  const { body } = await callUrl(`${server.url}/api/v1/auth/login`, 'POST', { body: admin });
  session = body.accessToken as string;
  const identity = {
    url: server.url,
    call: (method: string, path: string, options = {}) => callUrl(server.url + path, method, options),
  } as IdentityUnderTest;
  mounts = createMounts(identity, session);
  agent = createAgent(identity, session);
}

const database = await createIdentityDatabase();
const db = new pg.Pool({ connectionString: database.url });
const environment = {
  ...environmentFor(database.url),
  ...ALLOW_LOCAL,
  ...IMAGE_LIMITS,
  MCP_SERVER_REFRESH_MS: '1000',
  MCP_SERVER_TIMEOUT_MS: '5000',
};
beforeEach(async () => {
  hostile = await startHostileServer();
  await start();
});
afterEach(async () => {
  server.child.kill('SIGKILL');
  await server.exit;
  await db.query('delete from mcp_servers');
  await hostile.close();
});
afterAll(async () => {
  await db.end();
  await database.drop();
});

async function expectAlive(): Promise<void> {
  expect([server.child.exitCode, server.child.signalCode]).toEqual([null, null]);
  expect((await callUrl(`${server.url}/health/live`, 'GET')).status).toBe(200);
}
const inEffect = { search: 'kb:read', save: 'semantic:write' };
const callMany = (count: number, name = 'wiki__search') =>
  Promise.all(Array.from({ length: count }, () => agent.call(name, { query: 'a' })));

test('lists that never end, in pages of 3.8 MB, leave the process alive, and the job asks no more', async () => {
  hostile.onList = attacks.endlessPages;
  const id = await mounts.mount(hostile.url);
  await Promise.all([1, 2, 3].map(() => mounts.call('POST', `/${id}/refresh`)));
  await expectAlive();
  await waitFor(async () => (await mounts.call('GET', `/${id}`)).body.server.refreshFault === 'too_large', {
    what: 'the fault of a list that is too large',
  });
  const asked = hostile.count('tools/list');
  // The job lists a server every second; another that is due shows that it has looked.
  const second = await startHostileServer();
  await mounts.mount(second.url, { name: 'second' });
  await waitFor(() => second.count('tools/list') >= 3, { what: 'three later refreshes' });
  await second.close();
  expect(hostile.count('tools/list')).toBe(asked);
  hostile.onList = undefined;
  expect((await mounts.call('POST', `/${id}/refresh`)).status).toBe(200);
  await waitFor(() => hostile.count('tools/list') >= asked + 2, { what: 'the job, which asks again' });
});

test('a list that never ends in empty pages ends at its deadline', async () => {
  hostile.onList = attacks.endlessEmptyPages;
  const id = await mounts.mount(hostile.url);
  expect((await mounts.call('POST', `/${id}/test`)).body.isUsable).toBe(false);
  expect((await mounts.call('POST', `/${id}/refresh`)).status).toBe(502);
  await expectAlive();
});

test.each(['pingArray', 'pingStream'] as const)(
  'requests of a server are never answered: %s',
  async (attack) => {
    const id = await mounts.mountInEffect(hostile.url, inEffect);
    hostile.onCall = attacks[attack];
    hostile.onList = attacks[attack];
    const results = await callMany(4);
    await mounts.call('POST', `/${id}/refresh`);
    await expectAlive();
    expect(results.map(({ result }) => result.isError)).toEqual([true, true, true, true]);
    expect(hostile.count(undefined)).toBe(0);
  },
);

test.each(['hugeText', 'manyParts'] as const)(
  'concurrent answers leave the process alive: %s',
  async (attack) => {
    await mounts.mountInEffect(hostile.url, inEffect);
    hostile.onCall = attacks[attack];
    for (let round = 0; round < 5; round += 1) await callMany(32);
    await expectAlive();
  },
);

test('handshakes of 3.8 MB are not kept', async () => {
  hostile.onHandshake = attacks.hugeHandshake;
  const id = await mounts.mount(hostile.url);
  // Each change of how a server is reached begins connections anew, while the earlier ones are kept.
  for (let change = 0; change < 120; change += 1) {
    await mounts.call('PATCH', `/${id}`, { url: `${hostile.url}?${change}` });
    await mounts.call('POST', `/${id}/test`);
  }
  await expectAlive();
});

test('a replica that died while it listed a server begins with the others', async () => {
  hostile.onList = attacks.hang;
  await mounts.mount(hostile.url);
  await waitFor(() => hostile.count('tools/list') === 1, { what: 'the list that hangs' });
  server.child.kill('SIGKILL');
  await server.exit;
  // All are due, the server that hangs for the longest time.
  await db.query(`update mcp_servers set next_refresh_at = now() - interval '1 hour'`);
  const good = await startHostileServer();
  let asked = 0;
  good.onList = ({ id }, response) => {
    asked = hostile.count('tools/list');
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, result: { tools: [] } }));
  };
  await db.query(
    `insert into mcp_servers (id, org_id, name, url, credential, created_at, next_refresh_at)
     select gen_random_uuid(), org_id, 'good', $1, 'none', now(), now() - interval '1 minute' from mcp_servers`,
    [good.url],
  );
  await start();
  await waitFor(() => good.count('tools/list') > 0, { what: 'the list of the other server' });
  await good.close();
  expect(asked).toBe(1);
});
