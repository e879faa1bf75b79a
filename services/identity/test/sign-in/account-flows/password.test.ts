import { waitFor } from '@platform/testing';
import { codeIn, getStatuses, linkIn, newPassword, startPlatform, subjects, tokenIn } from './platform.js';
import { password } from './users.js';

const HOUR = 60 * 60_000;

const platform = await startPlatform({ APP_URL: 'https://app.example.com/' });
afterAll(() => platform.close());

const reset = (token: string, chosen = newPassword) =>
  platform.post('password/reset', { token, password: chosen });
const login = (email: string, proof: object = { password }) => platform.post('login', { email, ...proof });
const openSession = (email: string) => platform.identity.login({ email, password });
const change = (token: string, currentPassword: string, chosen = newPassword) =>
  platform.identity.call('POST', '/api/v1/auth/password', {
    token,
    body: { currentPassword, newPassword: chosen },
  });
const me = async (token: string) =>
  (await platform.identity.call('GET', '/api/v1/users/me', { token })).status;
const auditOf = async (action: string, subjectId: string) =>
  (
    await platform.identity.db.query(
      'select actor_id, reason, detail from audit_entries where action = $1 and subject_id = $2',
      [action, subjectId],
    )
  ).rows;

async function requestReset(email: string, count = 1): Promise<string> {
  expect((await platform.post('password/forgot', { email })).status).toBe(202);
  return tokenIn(await platform.mailTo(email, subjects.passwordLink, count));
}
async function requestCode(email: string): Promise<string> {
  await platform.post('otp', { email });
  return codeIn(await platform.mailTo(email, subjects.code));
}

describe('a forgotten password', () => {
  test('AUTH-68, AUTH-69: one that is easily guessed is refused, and the link stays', async () => {
    const { email } = await platform.createUser();
    const token = await requestReset(email);
    for (const chosen of ['password1', email, 'Summer2026!']) {
      const { status, body } = await reset(token, chosen);
      expect([status, body.error]).toMatchObject([
        400,
        { code: 'VALIDATION_ERROR', details: [{ field: 'password' }] },
      ]);
    }
    expect((await reset(token)).status).toBe(200);
  });

  test('a mailed link changes the password once and ends all sessions, but no tokens', async () => {
    const { id, email } = await platform.createUser();
    const sessions = [await openSession(email), await openSession(email)];
    const { accessToken: pat } = await platform.identity.createToken(sessions[0] ?? '');
    const otp = await requestCode(email);
    const token = await requestReset(email);
    const answer = await reset(token);
    expect([answer.status, answer.body]).toEqual([200, { message: 'Password changed' }]);
    expect(await Promise.all([...sessions, pat].map(me))).toEqual([401, 401, 200]);
    // The codes that were mailed before are revoked, too.
    const proofs = [{ password }, { otp }, { password: newPassword }];
    const statuses = [];
    for (const proof of proofs) statuses.push((await login(email, proof)).status);
    expect(statuses).toEqual([401, 401, 200]);
    expect((await reset(token, 'a-third-password')).body.error.code).toBe('LINK_INVALID');
    expect(await auditOf('password.changed', id)).toEqual([
      { actor_id: id, reason: 'reset', detail: { sessionsEnded: '2' } },
    ]);
  });

  test('the mail leads to the web app when there is one, and says when and from where it was requested', async () => {
    const { email } = await platform.createUser();
    await platform.post('password/forgot', { email });
    const mail = await platform.mailTo(email, subjects.passwordLink);
    const { origin, pathname, hash } = linkIn(mail);
    expect([origin, pathname, hash]).toEqual([
      'https://app.example.com',
      '/reset-password',
      expect.stringMatching(/^#token=[\w-]{43}$/),
    ]);
    expect(mail.text).toContain('expires in 1 hour.');
    expect(mail.text).toMatch(/^Time: +\d+ \w+ \d{4} at \d\d:\d\d UTC$/m);
    expect(mail.text).toMatch(/^IP address: +127\.0\.0\.1$/m);
    expect((await platform.mailTo(email, subjects.ready)).text).toContain('https://app.example.com/login');
  });

  test('only one of ten concurrent requests changes the password', async () => {
    const { email } = await platform.createUser();
    const token = await requestReset(email);
    const chosen = Array.from({ length: 10 }, (_, index) => `chosen-password-${index}`);
    const answers = await Promise.all(chosen.map((each) => reset(token, each)));
    expect(getStatuses(answers)).toEqual([200, ...Array.from({ length: 9 }, () => 400)]);
    const winner = chosen[answers.findIndex(({ status }) => status === 200)];
    expect((await login(email, { password: winner })).status).toBe(200);
  });

  test('no session opened with the old password survives a concurrent reset', async () => {
    const { email } = await platform.createUser();
    const token = await requestReset(email);
    const logins = Array.from({ length: 8 }, () => login(email));
    const [changed, ...answers] = await Promise.all([reset(token), ...logins]);
    expect(changed?.status).toBe(200);
    const opened = answers
      .filter(({ status }) => status === 200)
      .map(({ body }) => body.accessToken as string);
    expect(await Promise.all(opened.map(me))).toEqual(opened.map(() => 401));
  });

  test('rejects a removed member, and does not consume the link when the password is too weak', async () => {
    const { id, email } = await platform.createUser();
    const token = await requestReset(email);
    expect((await reset(token, 'short')).body.error.code).toBe('VALIDATION_ERROR');
    await platform.identity.call('DELETE', `/api/v1/users/${id}`, { token: platform.session });
    expect((await reset(token)).body.error.code).toBe('LINK_INVALID');
  });

  test('MAIL-35: a member gets mails and alerts in the language that they have chosen', async () => {
    const { identity } = platform;
    const { email } = await platform.createUser();
    const token = await openSession(email);
    await identity.call('PUT', '/api/v1/users/me/preferences', { token, body: { language: 'de' } });
    await platform.post('password/forgot', { email });
    await platform.mailTo(email, /^Neues Passwort festlegen$/);
    await identity.createToken(token, { name: 'Auslieferung' });
    await platform.drained();
    const { text } = await platform.mailTo(email, /^Ein neues Zugriffstoken wurde erstellt$/);
    expect(text).toContain('das Zugriffstoken „Auslieferung“ gilt für Ihr Konto');
  });
});

describe('the own password', () => {
  test('AUTH-68, AUTH-69: one that is easily guessed is refused', async () => {
    const { email } = await platform.createUser();
    const token = await openSession(email);
    for (const chosen of ['password1', email, 'example!']) {
      const { status, body } = await change(token, password, chosen);
      expect([chosen, status, body.error?.details]).toMatchObject([chosen, 400, [{ field: 'newPassword' }]]);
    }
    expect((await change(token, password)).status).toBe(200);
  });

  test('AUTH-27 a password change ends other sessions and mailed codes, keeps tokens, and is mailed to the member', async () => {
    const { id, email } = await platform.createUser();
    const [session, other] = [await openSession(email), await openSession(email)];
    const { accessToken } = await platform.identity.createToken(session, { scopes: ['user:read'] });
    const otp = await requestCode(email);
    const answer = await change(session, password);
    expect([answer.status, answer.body]).toEqual([200, { message: 'Password changed', endedCount: 1 }]);
    expect([await me(session), await me(other), await me(accessToken)]).toEqual([200, 401, 200]);
    const statuses = [];
    for (const proof of [{ password }, { otp }, { password: newPassword }])
      statuses.push((await login(email, proof)).status);
    expect(statuses).toEqual([401, 401, 200]);
    const { text } = await platform.mailTo(email, /^Your password was changed$/);
    expect(text).toContain('https://app.example.com/forgot-password');
    expect(await auditOf('password.changed', id)).toEqual([
      { actor_id: id, reason: 'changed', detail: { sessionsEnded: '1' } },
    ]);
  });

  test('AUTH-27 a wrong current password changes nothing, is in the audit, and is limited like a sign-in', async () => {
    const { id, email } = await platform.createUser();
    const session = await openSession(email);
    const wrong = await change(session, 'wrong-password');
    expect([wrong.status, wrong.body.error.code]).toEqual([400, 'WRONG_PASSWORD']);
    await waitFor(async () => (await auditOf('sign_in.failed', id)).length === 1, {
      what: 'the failure to be recorded',
    });
    expect((await change(session, password, 'short')).status).toBe(400);
    for (let guess = 0; guess < 9; guess += 1) await change(session, `guess-${guess}`);
    const limited = await change(session, password);
    expect([limited.status, limited.headers.has('retry-after')]).toEqual([429, true]);
  });

  test('AUTH-27 failed sign-ins by others do not keep the owner from changing the password', async () => {
    const { email } = await platform.createUser();
    const headers = { 'x-forwarded-for': '198.51.100.7', 'user-agent': 'curl/8.5.0' };
    const { body } = await platform.post('login', { email, password }, headers);
    const { rowCount } = await platform.identity.db.query(
      `update rate_limits set points = 1000 where key like 'login:account:%'`,
    );
    expect(rowCount).toBeGreaterThan(0);
    const changed = await platform.identity.call('POST', '/api/v1/auth/password', {
      token: body.accessToken as string,
      headers,
      body: { currentPassword: password, newPassword },
    });
    expect(changed.status).toBe(200);
  });

  test('AUTH-27 one of two concurrent password changes succeeds', async () => {
    const { email } = await platform.createUser();
    const session = await openSession(email);
    const answers = await Promise.all([
      change(session, password, 'first-new-password'),
      change(session, password, 'second-new-password'),
    ]);
    expect(getStatuses(answers)).toEqual([200, 400]);
  });
});

// The last one, because the administrator's session may end with the hours.
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
