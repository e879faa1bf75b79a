import { createHttpBrowser } from '../../browser.js';
import { admin, type Member, startIdentity } from '../../identity.js';

const PATH = '/api/v1/sessions';
const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0';

const identity = await startIdentity();
const session = await identity.login();
afterAll(() => identity.close());

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
}); // prettier-ignore
