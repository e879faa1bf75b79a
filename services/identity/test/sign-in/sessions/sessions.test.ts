import { DAY_MS } from '@platform/service-kit';
import { createHttpBrowser } from '../../browser.js';
import { admin, type Member, startIdentity } from '../../identity.js';

const PATH = '/api/v1/sessions';
const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0';

const identity = await startIdentity();
const session = await identity.login();
afterAll(() => identity.close());

const login = (body: object) => identity.call('POST', '/api/v1/auth/login', { body });
const loginAs = ({ email, password }: Member) => identity.login({ email, password });
const me = async (token: string) => (await identity.call('GET', '/api/v1/users/me', { token })).status;
const list = async (token: string) =>
  (await identity.call('GET', PATH, { token })).body.sessions as { id: string; current: boolean }[];
const countAudit = async (action: string, subjectId: string) =>
  (
    await identity.db.query(
      `select count(*)::int as count from audit_entries where action = $1 and subject_id = $2`,
      [action, subjectId],
    )
  ).rows[0].count as number;

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
}); // oxfmt-ignore

test('responds in the same way to an unknown account, one without a password, a removed one and a wrong password', async () => {
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

test('rejects an invalid body with 400 without counting a guess', async () => {
  const countGuesses = async () =>
    (await identity.db.query(`select sum(points) as points from rate_limits where key like '%account%'`))
      .rows;
  const before = await countGuesses();
  for (const body of [
    { email: admin.email },
    { email: admin.email, password: 'x'.repeat(257) },
    { email: admin.email, password: 'x', role: 'admin' },
  ])
    expect((await login(body)).status).toBe(400);
  expect(await countGuesses()).toEqual(before);
});

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
});

test('AUTH-25 a member sees where, when and with which client each session was opened, and which is this one', async () => {
  const member = await identity.createMember(session);
  await identity.call('POST', '/api/v1/auth/login', {
    body: { email: member.email, password: member.password },
    headers: { 'user-agent': FIREFOX },
  });
  const { status, body } = await identity.call('GET', PATH, { token: member.session });
  expect(status).toBe(200);
  expect(body.sessions).toEqual([
    {
      id: expect.any(String),
      createdAt: expect.stringMatching(/Z$/),
      expiresAt: expect.stringMatching(/Z$/),
      address: '127.0.0.1',
      client: 'Firefox on Windows',
      current: false,
    },
    expect.objectContaining({ current: true, client: 'node' }),
  ]);
});

test('AUTH-25 a session that a member ends is refused at once and no longer listed', async () => {
  const member = await identity.createMember(session);
  const other = await loginAs(member);
  const [newest] = await list(member.session);
  expect(newest?.current).toBe(false);
  const end = () => identity.call('DELETE', `${PATH}/${newest?.id}`, { token: member.session });
  expect((await end()).status).toBe(200);
  expect([await me(other), await me(member.session)]).toEqual([401, 200]);
  expect((await end()).status).toBe(404);
  expect(await list(member.session)).toHaveLength(1);
  expect(await countAudit('session.ended', newest?.id ?? '')).toBe(1);
});

test('AUTH-25 a member ends all other sessions, also by cookie', async () => {
  const member = await identity.createMember(session);
  const browser = createHttpBrowser(identity.url);
  await browser.signIn(member);
  const other = await loginAs(member);
  const answer = await browser.call('DELETE', PATH);
  expect([answer.status, answer.body.endedCount]).toEqual([200, 2]);
  expect([await me(other), await me(member.session)]).toEqual([401, 401]);
  expect((await browser.call('GET', PATH)).body.sessions).toEqual([
    expect.objectContaining({ current: true }),
  ]);
  expect(await countAudit('sessions.ended', member.id)).toBe(1);
});

test('AUTH-25 a member cannot see or end sessions of another member or organisation', async () => {
  const [first, second] = [await identity.createMember(session), await identity.createMember(session)];
  const foreign = await identity.createOrganisation('foreign@example.com');
  const [own] = await list(first.session);
  for (const token of [second.session, foreign.session, session])
    expect((await identity.call('DELETE', `${PATH}/${own?.id}`, { token })).status).toBe(404);
  expect(await me(first.session)).toBe(200);
  const path = `/api/v1/users/${first.id}/sessions`;
  for (const method of ['GET', 'DELETE']) {
    expect((await identity.call(method, path, { token: second.session })).status).toBe(403);
    expect((await identity.call(method, path, { token: foreign.session })).status).toBe(404);
  }
  expect(await me(first.session)).toBe(200);
});

test('AUTH-26 an administrator lists and ends the sessions of a member', async () => {
  const member = await identity.createMember(session);
  const path = `/api/v1/users/${member.id}/sessions`;
  const { body } = await identity.call('GET', path, { token: session });
  expect(body.sessions).toEqual([expect.objectContaining({ current: false })]);
  const ended = await identity.call('DELETE', path, { token: session });
  expect([ended.status, ended.body.endedCount]).toEqual([200, 1]);
  expect([await me(member.session), await me(session)]).toEqual([401, 200]);
  expect(await countAudit('sessions.ended', member.id)).toBe(1);
});

test('AUTH-21 two concurrent sign-ins of one browser leave two sessions that can be listed and ended', async () => {
  const browser = createHttpBrowser(identity.url);
  const before = (await list(session)).length;
  const answers = await Promise.all([browser.signIn(admin), browser.signIn(admin)]);
  expect(answers.map(({ status }) => status)).toEqual([303, 303]);
  expect(await list(session)).toHaveLength(before + 2);
  expect((await browser.call('GET', PATH)).body.sessions.filter((one: { current: boolean }) => one.current)).toHaveLength(1);
}); // oxfmt-ignore

test('rejects a session after 24 hours, and not before', async () => {
  const opened = await identity.login();
  identity.advance(DAY_MS - 60_000);
  expect(await me(opened)).toBe(200);
  identity.advance(60_000);
  expect(await me(opened)).toBe(401);
});
