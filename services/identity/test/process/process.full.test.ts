import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { callUrl } from '@platform/testing';
import pg from 'pg';
import { admin, createIdentityDatabase } from '../identity.js';
import { environmentFor, run, type Server, startServer } from './process.js';

const database = await createIdentityDatabase();
const env = environmentFor(database.url);
const db = new pg.Pool({ connectionString: database.url, max: 2 });
const servers = new Set<Server>();
afterAll(async () => {
  for (const { child } of servers) child.kill('SIGKILL');
  await Promise.all([...servers].map(({ exit }) => exit));
  await db.end();
  await database.drop();
});

async function start(more: NodeJS.ProcessEnv = {}): Promise<Server> {
  const server = await startServer({ ...env, ...more });
  servers.add(server);
  return server;
}
const call = (server: Server, method: string, path: string, token?: string, body?: object) =>
  callUrl(server.url + path, method, { ...(token && { token }), ...(body && { body }) });
const logIn = (server: Server, password = admin.password) =>
  call(server, 'POST', '/api/v1/auth/login', undefined, { ...admin, password });
async function createToken(server: Server, session: string, name: string) {
  const body = { name, scopes: ['user:read'] };
  const answer = await call(server, 'POST', '/api/v1/personal-access-tokens', session, body);
  expect(answer.status).toBe(201);
  return answer.body.token as { id: string; accessToken: string };
}
const me = async (server: Server, token: string) =>
  (await call(server, 'GET', '/api/v1/users/me', token)).status;

test('two replicas that start at once create one organisation, administrator and signing key, and both serve until SIGTERM', async () => {
  const replicas = await Promise.all([start(), start()]);
  const { rows } = await db.query(
    'select (select count(*)::int from organisations) o, (select count(*)::int from users) u, (select count(*)::int from signing_keys) k',
  );
  expect(rows).toEqual([{ o: 1, u: 1, k: 1 }]);
  const used: string[] = [];
  for (const replica of replicas) {
    const { status, body } = await logIn(replica);
    expect(status).toBe(200);
    const { id, accessToken } = await createToken(replica, body.accessToken as string, 'last');
    expect(await me(replica, accessToken)).toBe(200);
    used.push(id);
  }
  for (const { child } of replicas) child.kill('SIGTERM');
  for (const { exit } of replicas) {
    const { code, signal, stdout, stderr } = await exit;
    expect([code, signal, stderr]).toEqual([0, null, '']);
    expect(stdout).toContain('"msg":"shut down"');
    expect(stdout).not.toContain(admin.password);
  }
  // The last-used times were written on the way out.
  const written = await db.query('select from token_last_used where token_id = any($1)', [used]);
  expect(written.rowCount).toBe(2);
});

test('kill -9 loses no acknowledged token or revocation, and later bootstrap values are ignored', async () => {
  const killed = await start();
  // All requests share one login: on a busy machine, identity rejects logins that would wait too long for hashing.
  const session = (await logIn(killed)).body.accessToken as string;
  const names = Array.from({ length: 10 }, (_, index) => `t-${index}`);
  const [revoked, ...kept] = await Promise.all(names.map((name) => createToken(killed, session, name)));
  const path = `/api/v1/personal-access-tokens/${revoked?.id}`;
  expect((await call(killed, 'DELETE', path, session)).status).toBe(200);
  killed.child.kill('SIGKILL');
  await killed.exit;

  const server = await start({ BOOTSTRAP_ADMIN_PASSWORD: 'another-password' });
  const statuses = await Promise.all(kept.map(({ accessToken }) => me(server, accessToken)));
  expect(statuses).toEqual(kept.map(() => 200));
  expect(await me(server, revoked?.accessToken ?? '')).toBe(401);
  expect(await me(server, session)).toBe(200);
  expect([(await logIn(server, 'another-password')).status, (await logIn(server)).status]).toEqual([
    401, 200,
  ]);
});

test('reports a port in use in one clear line', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  try {
    const { code, stderr } = await run('server.js', { ...env, PORT: String(port) }).exit;
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^Can't listen .*EADDRINUSE[^\n]*\n$/)]);
  } finally {
    taken.close();
  }
});
