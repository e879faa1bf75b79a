import { callUrl } from '@platform/testing';
import pg from 'pg';
import { admin, createIdentityDatabase } from '../identity.js';
import { environmentFor, type Server, startServer } from './process.js';

let server: Server;

const database = await createIdentityDatabase();
const db = new pg.Pool({ connectionString: database.url });
beforeEach(async () => {
  server = await startServer(environmentFor(database.url));
});
afterEach(async () => {
  server.child.kill('SIGKILL');
  await server.exit;
});
afterAll(async () => {
  await db.end();
  await database.drop();
});

const call = (method: string, path: string, token?: string, body?: object) =>
  callUrl(server.url + path, method, { ...(token && { token }), ...(body && { body }) });
async function logIn(): Promise<string> {
  const { status, body } = await call('POST', '/api/v1/auth/login', undefined, admin);
  expect(status).toBe(200);
  return body.accessToken as string;
}
async function createToken(session: string, name: string): Promise<{ id: string; accessToken: string }> {
  const { status, body } = await call('POST', '/api/v1/personal-access-tokens', session, { name, scopes: ['user:read'] });
  expect(status).toBe(201);
  return body.token as { id: string; accessToken: string };
} // prettier-ignore

test('exits with 0 on SIGTERM, after writing the last-used times', async () => {
  const { id, accessToken } = await createToken(await logIn(), 'last');
  expect((await call('GET', '/api/v1/users/me', accessToken)).status).toBe(200);
  server.child.kill('SIGTERM');
  const { code, signal, stderr, stdout } = await server.exit;
  expect([code, signal, stderr]).toEqual([0, null, '']);
  expect(stdout).toContain('"msg":"shut down"');
  const { rows } = await db.query('select token_id from token_last_used where token_id = $1', [id]);
  expect(rows).toHaveLength(1);
});

test('loses no acknowledged token or revocation on kill -9', async () => {
  // All requests share one login: on a busy machine, identity rejects logins that would wait too long for hashing.
  const session = await logIn();
  const created = await Promise.all(Array.from({ length: 10 }, (_, index) => createToken(session, `t-${index}`)));
  const [revoked, ...kept] = created;
  expect((await call('DELETE', `/api/v1/personal-access-tokens/${revoked?.id ?? ''}`, session)).status).toBe(200);
  server.child.kill('SIGKILL');
  await server.exit;
  server = await startServer(environmentFor(database.url));
  const me = async (token: string) => (await call('GET', '/api/v1/users/me', token)).status;
  expect(await Promise.all(kept.map(({ accessToken }) => me(accessToken)))).toEqual(kept.map(() => 200));
  expect(await me(revoked?.accessToken ?? '')).toBe(401);
  expect(await me(session)).toBe(200);
}); // prettier-ignore
