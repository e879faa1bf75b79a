import { DAY_MS } from '@platform/service-kit';
import { createPasswords } from '../../../src/base/passwords.js';
import { admin, startIdentity } from '../../identity.js';

const identity = await startIdentity();
afterAll(() => identity.close());

const login = (body: object) => identity.call('POST', '/api/v1/auth/login', { body });
const me = async (token: string) => (await identity.call('GET', '/api/v1/users/me', { token })).status;

test('login returns a session of 24 hours in the specified shape, and stores only its hash', async () => {
  const { status, headers, body } = await login({ email: ' Admin@Example.com ', password: admin.password });
  expect(status).toBe(200);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(body).toEqual({
    accessToken: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    tokenType: 'Bearer',
    expiresIn: 86_400,
    expiresAt: expect.stringMatching(/Z$/),
    user: { id: expect.any(String), orgId: identity.orgId, email: admin.email, fullName: 'Administrator', role: 'admin' },
  });
  const lifetimeMs = Date.parse(body.expiresAt) - Date.now();
  expect(lifetimeMs).toBeGreaterThan(DAY_MS - 10_000);
  expect(lifetimeMs).toBeLessThanOrEqual(DAY_MS);
  const { rows } = await identity.db.query('select token_hash, ended_at, user_id from sessions order by id desc limit 1');
  expect(rows).toEqual([{ token_hash: expect.stringMatching(/^[\w-]{43}$/), ended_at: null, user_id: body.user.id }]);
}); // prettier-ignore

test('responds in the same way to an unknown account, one without a password, a removed one and a wrong password', async () => {
  const session = await identity.login();
  const removed = await identity.createMember(session);
  const invited = await identity.createMember(session);
  await identity.call('DELETE', `/api/v1/users/${removed.id}`, { token: session });
  await identity.db.query('update users set password_hash = null where id = $1', [invited.id]);
  const answers = await Promise.all([
    login({ email: 'nobody@example.com', password: 'some-password' }),
    login({ email: admin.email, password: 'some-password' }),
    login({ email: removed.email, password: removed.password }),
    login({ email: invited.email, password: invited.password }),
  ]);
  for (const { status, text } of answers) expect([status, text]).toEqual([401, answers[0]?.text]);
});

test('hashes as much for an unknown account as for a known one', async () => {
  const passwords = createPasswords();
  const known = await passwords.hash('a-known-password');
  const measureTime = async (hash: string | null | undefined) => {
    const before = process.cpuUsage();
    expect(await passwords.verify(hash, 'some-password')).toBe(false);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  await measureTime(undefined);
  const work = { known: Infinity, unknown: Infinity };
  for (let round = 0; round < 5; round += 1) {
    work.known = Math.min(work.known, await measureTime(known));
    work.unknown = Math.min(work.unknown, await measureTime(undefined));
  }
  // Without the decoy, an unknown account would take a thousandth of the time.
  expect(work.unknown / work.known).toBeGreaterThan(0.3);
  expect(known).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
});

test('rejects an invalid body with 400 without counting a guess', async () => {
  for (const body of [{}, { email: admin.email }, { password: 'x' }, { email: '', password: 'x' }, { email: 1, password: 'x' }, { email: admin.email, password: '' }, { email: admin.email, password: 'x'.repeat(257) }, { email: 'x'.repeat(255), password: 'x' }, { email: admin.email, password: 'x', role: 'admin' }])
    expect((await login(body)).status).toBe(400);
  const { rows } = await identity.db.query(`select max(points) as points from rate_limits where key like '%account%'`);
  expect(rows[0].points ?? 0).toBeLessThanOrEqual(1);
}); // prettier-ignore

test('logout ends its own session at once, but no other session and no token', async () => {
  const [first, second] = [await identity.login(), await identity.login()];
  const pat = await identity.createToken(first, { scopes: ['user:read'] });
  const logout = (token: string) => identity.call('POST', '/api/v1/auth/logout', { token });
  const refused = await logout(pat.accessToken);
  expect([refused.status, refused.body.error.code]).toEqual([403, 'SESSION_REQUIRED']);
  const answer = await logout(first);
  expect([answer.status, answer.text]).toEqual([204, '']);
  expect(await me(first)).toBe(401);
  expect((await logout(first)).status).toBe(401);
  expect([await me(second), await me(pat.accessToken)]).toEqual([200, 200]);
  const { rows } = await identity.db.query(
    `select count(*)::int from audit_entries where action = 'session.ended'`,
  );
  expect(rows).toEqual([{ count: 1 }]);
});

test('rejects a session after 24 hours, and not before', async () => {
  const session = await identity.login();
  identity.advance(DAY_MS - 60_000);
  expect(await me(session)).toBe(200);
  identity.advance(60_000);
  expect(await me(session)).toBe(401);
});
