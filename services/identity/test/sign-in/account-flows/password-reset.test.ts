import { codeIn, newPassword, password, startPlatform, getStatuses, tokenIn } from './platform.js';

const HOUR = 60 * 60_000;
const subject = /^Choose a new password$/;

const platform = await startPlatform({ APP_URL: 'https://app.example.com/' });
afterAll(() => platform.close());

const reset = (token: string, chosen = newPassword) =>
  platform.post('password/reset', { token, password: chosen });
const login = (email: string, secret: string) => platform.post('login', { email, password: secret });
const me = async (token: string) =>
  (await platform.identity.call('GET', '/api/v1/users/me', { token })).status;

async function requestReset(email: string, count = 1): Promise<string> {
  expect((await platform.post('password/forgot', { email })).status).toBe(202);
  return tokenIn(await platform.mailTo(email, subject, count));
}

test('a mailed link changes the password once and ends all sessions, but no tokens', async () => {
  const { id, email } = await platform.createUser();
  const sessions = await Promise.all(
    [1, 2].map(async () => (await login(email, password)).body.accessToken as string),
  );
  const { accessToken: pat } = await platform.identity.createToken(sessions[0] ?? '');
  const token = await requestReset(email);
  const answer = await reset(token);
  expect([answer.status, answer.body]).toEqual([200, { message: 'Password changed' }]);
  expect(await Promise.all(sessions.map(me))).toEqual([401, 401]);
  expect(await me(pat)).toBe(200);
  expect((await login(email, password)).status).toBe(401);
  expect((await login(email, newPassword)).status).toBe(200);
  expect((await reset(token, 'a-third-password')).body.error.code).toBe('LINK_INVALID');
  const { rows } = await platform.identity.db.query(
    `select actor_id, reason, detail from audit_entries where action = 'password.changed' and subject_id = $1`,
    [id],
  );
  expect(rows).toEqual([{ actor_id: id, reason: 'reset', detail: { sessionsEnded: '2' } }]);
});

test('the link leads to the web app when there is one', async () => {
  const { email } = await platform.createUser();
  const mail = (await platform.post('password/forgot', { email })) && (await platform.mailTo(email, subject));
  expect(mail.text).toMatch(/^https:\/\/app\.example\.com\/reset-password#token=[\w-]{43}$/m);
  expect((await platform.mailTo(email, /account is ready/)).text).toContain('https://app.example.com/login');
});

test('only one of ten concurrent requests changes the password', async () => {
  const { email } = await platform.createUser();
  const token = await requestReset(email);
  const chosen = Array.from({ length: 10 }, (_, index) => `chosen-password-${index}`);
  const answers = await Promise.all(chosen.map((each) => reset(token, each)));
  expect(getStatuses(answers)).toEqual([200, ...Array.from({ length: 9 }, () => 400)]);
  const winner = chosen[answers.findIndex(({ status }) => status === 200)] ?? '';
  expect((await login(email, winner)).status).toBe(200);
});

test('no session opened with the old password survives a concurrent reset', async () => {
  const { email } = await platform.createUser();
  const token = await requestReset(email);
  const logins = Array.from({ length: 8 }, () => login(email, password));
  const [changed, ...answers] = await Promise.all([reset(token), ...logins]);
  expect(changed?.status).toBe(200);
  const opened = answers.filter(({ status }) => status === 200).map(({ body }) => body.accessToken as string);
  expect(await Promise.all(opened.map(me))).toEqual(opened.map(() => 401));
});

test('a reset revokes the codes and links that were mailed before', async () => {
  const { email } = await platform.createUser();
  await platform.post('otp', { email });
  const otp = codeIn(await platform.mailTo(email, /sign-in code/));
  expect((await reset(await requestReset(email))).status).toBe(200);
  expect((await platform.post('login', { email, otp })).status).toBe(401);
});

test('rejects a removed member, and does not consume the link when the password is too weak', async () => {
  const { id, email } = await platform.createUser();
  const token = await requestReset(email);
  expect((await reset(token, 'short')).body.error.code).toBe('VALIDATION_ERROR');
  await platform.identity.call('DELETE', `/api/v1/users/${id}`, { token: platform.session });
  expect((await reset(token)).body.error.code).toBe('LINK_INVALID');
});

test('a link expires after an hour, and is mailed again while it is fresh', async () => {
  const { email } = await platform.createUser();
  const older = await requestReset(email);
  await platform.minutePassed();
  expect(await requestReset(email, 2)).toBe(older);
  platform.identity.advance(HOUR / 2 + 1_000);
  await platform.minutePassed();
  const newer = await requestReset(email, 3);
  expect((await reset(older)).status).toBe(400);
  platform.identity.advance(HOUR - 20_000);
  expect((await reset(newer)).status).toBe(200);
  await platform.minutePassed();
  const late = await requestReset(email, 4);
  platform.identity.advance(HOUR);
  expect((await reset(late)).status).toBe(400);
});
