import { waitFor } from '@platform/testing';
import { codeIn, getStatuses, newPassword, password, startPlatform } from './platform.js';

const platform = await startPlatform();
afterAll(() => platform.close());

const change = (token: string, currentPassword: string, chosen: string = newPassword) =>
  platform.identity.call('POST', '/api/v1/auth/password', {
    token,
    body: { currentPassword, newPassword: chosen },
  });
const me = async (token: string) =>
  (await platform.identity.call('GET', '/api/v1/users/me', { token })).status;

test('AUTH-27 a password change ends other sessions and mailed codes, keeps tokens, and is mailed to the member', async () => {
  const { id, email } = await platform.createUser();
  const [session, other] = [
    await platform.identity.login({ email, password }),
    await platform.identity.login({ email, password }),
  ];
  const { accessToken } = await platform.identity.createToken(session, { scopes: ['user:read'] });
  await platform.post('otp', { email });
  const otp = codeIn(await platform.mailTo(email, /sign-in code/));
  const answer = await change(session, password);
  expect([answer.status, answer.body]).toEqual([200, { message: 'Password changed', endedCount: 1 }]);
  expect([await me(session), await me(other), await me(accessToken)]).toEqual([200, 401, 200]);
  const logins = [{ password }, { otp }, { password: newPassword }];
  const statuses = [];
  for (const proof of logins) statuses.push((await platform.post('login', { email, ...proof })).status);
  expect(statuses).toEqual([401, 401, 200]);
  const mail = await platform.mailTo(email, /Your password was changed/);
  expect(mail.text).toMatch(/all other sessions\s+were ended/);
  expect(mail.text).toContain('/sign-in/forgot-password');
  const { rows } = await platform.identity.db.query(
    `select reason, detail, credential_kind from audit_entries where action = 'password.changed' and subject_id = $1`,
    [id],
  );
  expect(rows).toEqual([{ reason: 'changed', detail: { sessionsEnded: '1' }, credential_kind: 'session' }]);
});

test('AUTH-27 a wrong current password changes nothing and is limited like a sign-in', async () => {
  const { email } = await platform.createUser();
  const session = await platform.identity.login({ email, password });
  const wrong = await change(session, 'wrong-password');
  expect([wrong.status, wrong.body.error.code]).toEqual([400, 'WRONG_PASSWORD']);
  expect((await change(session, password, 'short')).status).toBe(400);
  for (let guess = 0; guess < 9; guess += 1) await change(session, `guess-${guess}`);
  const limited = await change(session, password);
  expect([limited.status, limited.headers.has('retry-after')]).toEqual([429, true]);
});

test('AUTH-27 failed sign-ins by others do not keep the owner from changing the password', async () => {
  const { email } = await platform.createUser();
  const headers = { 'x-forwarded-for': '198.51.100.7', 'user-agent': 'curl/8.5.0' };
  const { body: login } = await platform.post('login', { email, password }, headers);
  const { rowCount } = await platform.identity.db.query(
    `update rate_limits set points = 1000 where key like 'login:account:%'`,
  );
  expect(rowCount).toBeGreaterThan(0);
  const changed = await platform.identity.call('POST', '/api/v1/auth/password', {
    token: login.accessToken as string,
    headers,
    body: { currentPassword: password, newPassword },
  });
  expect(changed.status).toBe(200);
});

test('AUTH-27 a wrong guess at the current password is in the audit', async () => {
  const { id, email } = await platform.createUser();
  const session = await platform.identity.login({ email, password });
  await change(session, 'wrong-password');
  const find = () =>
    platform.identity.db.query(
      `select detail from audit_entries where action = 'sign_in.failed' and subject_id = $1`,
      [id],
    );
  await waitFor(async () => (await find()).rowCount === 1, { what: 'the failure to be recorded' });
  expect((await find()).rows).toEqual([{ detail: { method: 'password' } }]);
});

test('AUTH-27 one of two concurrent password changes succeeds', async () => {
  const { email } = await platform.createUser();
  const session = await platform.identity.login({ email, password });
  const answers = await Promise.all([
    change(session, password, 'first-new-password'),
    change(session, password, 'second-new-password'),
  ]);
  expect(getStatuses(answers)).toEqual([200, 400]);
});
