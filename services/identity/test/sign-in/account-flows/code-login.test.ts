import { waitForLockWaiters } from '../../lock-waiters.js';
import { codeIn, getStatuses, newPassword, startPlatform, subjects, tokenIn } from './platform.js';
import { password } from './users.js';

const MINUTE = 60_000;

const platform = await startPlatform();
afterAll(() => platform.close());

const login = (email: string, otp: string) => platform.post('login', { email, otp });

async function requestCode(email: string, count = 1): Promise<string> {
  expect((await platform.post('otp', { email })).status).toBe(202);
  return codeIn(await platform.mailTo(email, subjects.code, count));
}

/** Returns a code other than the right one. */
const wrong = (code: string, offset = 1) => String((Number(code) + offset) % 1_000_000).padStart(6, '0');

test('a mailed code logs in once, whatever the case of the address, and is in no table, log or audit entry', async () => {
  const { email } = await platform.createUser();
  const code = await requestCode(email.toUpperCase());
  expect(code).toMatch(/^\d{6}$/);
  const { rows } = await platform.identity.db.query<{ stored: string }>(
    `select json_agg(s)::text as stored from one_time_secrets s`,
  );
  expect(rows[0]?.stored).toContain('login_code');
  expect(rows[0]?.stored).not.toContain(code);
  const answer = await login(email.toUpperCase(), code);
  expect([answer.status, answer.body.user?.email]).toEqual([200, email]);
  const me = await platform.identity.call('GET', '/api/v1/users/me', { token: answer.body.accessToken });
  expect(me.status).toBe(200);
  expect((await login(email, code)).status).toBe(401);
  const audit = await platform.identity.db.query<{ all: string }>(`select json_agg(a)::text as all from audit_entries a`);
  expect(audit.rows[0]?.all).toContain('"method":"code"'.replace(':', ': '));
  expect(audit.rows[0]?.all).not.toContain(code);
  expect(platform.identity.logged()).not.toContain(code);
}); // oxfmt-ignore

test('only one of ten concurrent logins with the right code succeeds', async () => {
  const { email } = await platform.createUser();
  const code = await requestCode(email);
  const answers = await Promise.all(Array.from({ length: 10 }, () => login(email, code)));
  expect(getStatuses(answers)).toEqual([200, ...Array.from({ length: 9 }, () => 401)]);
});

/** Guesses at most ten times from each network, because further guesses are rejected before the code is verified. */
async function guessWrongly(email: string, code: string, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const headers = { 'x-forwarded-for': `198.51.${networks}.1` };
    if (index % 8 === 7) networks += 1;
    const { status } = await platform.post('login', { email, otp: wrong(code, index + 1) }, headers);
    expect(status).toBe(401);
  }
  networks += 1;
}
let networks = 0;

test('thirty wrong guesses in a day disable the codes of an account until its owner follows a mailed link', async () => {
  const { email } = await platform.createUser();
  await guessWrongly(email, await requestCode(email), 15);
  // Another code doesn't allow more guesses.
  platform.identity.advance(11 * MINUTE);
  await platform.minutePassed();
  const code = await requestCode(email, 2);
  await guessWrongly(email, code, 15);
  expect((await login(email, code)).status).toBe(401);
  await platform.minutePassed();
  await platform.post('otp', { email });
  const mail = await platform.mailTo(email, /^Too many wrong sign-in codes/);
  expect(platform.mailsTo(email, subjects.code)).toHaveLength(2);
  expect((await platform.post('password/reset', { token: tokenIn(mail), password: newPassword })).status).toBe(200);
  await platform.minutePassed();
  expect((await login(email, await requestCode(email, 3))).status).toBe(200);
}); // oxfmt-ignore

test('wrong guesses from one network do not lock out the owner in another', async () => {
  const { email } = await platform.createUser();
  const code = await requestCode(email);
  const headers = { 'x-forwarded-for': '203.0.113.99' };
  const guesses = Array.from({ length: 14 }, (_, index) =>
    platform.post('login', { email, otp: wrong(code, index + 1) }, headers),
  );
  expect(new Set(getStatuses(await Promise.all(guesses)))).toEqual(new Set([401, 429]));
  expect((await login(email, code)).status).toBe(200);
});

test('guesses of the password from everywhere do not block a mailed code', async () => {
  const { email } = await platform.createUser();
  const code = await requestCode(email);
  const from = (network: string) => ({ 'x-forwarded-for': network });
  await platform.post('login', { email, password: 'guess-guess' }, from('192.0.2.1'));
  await platform.identity.db.query(`update rate_limits set points = 100 where key like 'login:account:%'`);
  const headers = from('203.0.113.50');
  expect((await platform.post('login', { email, password }, headers)).status).toBe(429);
  expect((await platform.post('login', { email, otp: code }, headers)).status).toBe(200);
});

test('the count of thirty wrong guesses is reset after a day', async () => {
  const { email } = await platform.createUser();
  await requestCode(email);
  // Not by the clock: the administrator's session would end, too.
  await platform.identity.db.query(
    `update one_time_secrets set tries_left = 0, tries_since = tries_since - interval '1 day'`,
  );
  await platform.minutePassed();
  expect((await login(email, await requestCode(email, 2))).status).toBe(200);
});

test('when an organisation disables codes, none are mailed and mailed ones are rejected', async () => {
  const { email } = await platform.createUser();
  const code = await requestCode(email);
  const set = (codesEnabled: boolean, token = platform.session) =>
    platform.identity.call('POST', '/api/v1/configurationManager/signInConfig', { token, body: { codesEnabled } });
  const { accessToken } = await platform.identity.createToken(platform.session, { scopes: ['config:write', 'config:read'] });
  expect((await set(false, accessToken)).body.error.code).toBe('SESSION_REQUIRED');
  expect((await set(false)).body.signIn).toEqual({ codesEnabled: false, secondFactorRequired: false });
  expect((await login(email, code)).status).toBe(401);
  await platform.minutePassed();
  expect((await platform.post('otp', { email })).status).toBe(202);
  await platform.drained();
  expect(platform.mailsTo(email, subjects.code)).toHaveLength(1);
  await set(true);
  const shown = await platform.identity.call('GET', '/api/v1/configurationManager/signInConfig', { token: accessToken });
  expect(shown.body).toEqual({ signIn: { codesEnabled: true, secondFactorRequired: false } });
}); // oxfmt-ignore

test('rejects a code of another account', async () => {
  const [one, other] = [await platform.createUser(), await platform.createUser()];
  const code = await requestCode(one.email);
  expect((await login(other.email, code)).status).toBe(401);
  expect((await login(one.email, code)).status).toBe(200);
});

test('a second request within a minute mails nothing, and one shortly after mails the same code', async () => {
  const { email } = await platform.createUser();
  const code = await requestCode(email);
  expect((await platform.post('otp', { email })).status).toBe(202);
  await platform.drained();
  await platform.minutePassed();
  platform.identity.advance(4 * MINUTE);
  expect(await requestCode(email, 2)).toBe(code);
  // Its lifetime starts over.
  platform.identity.advance(9 * MINUTE);
  expect((await login(email, code)).status).toBe(200);
});

test('a used code ends the cooldown, so that the next code is mailed at once', async () => {
  const { email } = await platform.createUser();
  const code = await requestCode(email);
  expect((await login(email, code)).status).toBe(200);
  const next = await requestCode(email, 2);
  expect((await login(email, next)).status).toBe(200);
});

test('a password reset ends the cooldown of the codes that it revokes', async () => {
  const { email } = await platform.createUser();
  const code = await requestCode(email);
  await platform.post('password/forgot', { email });
  const token = tokenIn(await platform.mailTo(email, subjects.passwordLink));
  expect((await platform.post('password/reset', { token, password: newPassword })).status).toBe(200);
  expect((await login(email, code)).status).toBe(401);
  expect((await login(email, await requestCode(email, 2))).status).toBe(200);
});

test('a code past half of its lifetime is replaced and rejected', async () => {
  const { email } = await platform.createUser();
  const code = await requestCode(email);
  platform.identity.advance(6 * MINUTE);
  await platform.minutePassed();
  const newer = await requestCode(email, 2);
  // Both codes are equal once in a million times.
  const older = newer === code ? wrong(code) : code;
  expect((await login(email, older)).status).toBe(401);
  expect((await login(email, newer)).status).toBe(200);
});

test('rejects a code when the password changes during its verification', async () => {
  const { email } = await platform.createUser();
  const code = await requestCode(email);
  const { db } = platform.identity;
  const other = await db.connect();
  await other.query('begin');
  await other.query(`select from one_time_secrets s join users u on u.id = s.user_id where email = $1 for update of s`, [email]);
  const answer = login(email, code);
  await waitForLockWaiters(db);
  await db.query(`update users set password_hash = 'another' where email = $1`, [email]);
  await other.query('commit');
  other.release();
  expect((await answer).status).toBe(401);
}); // oxfmt-ignore

test('rejects the code of a removed member', async () => {
  const { id, email } = await platform.createUser();
  const code = await requestCode(email);
  await platform.identity.call('DELETE', `/api/v1/users/${id}`, { token: platform.session });
  expect((await login(email, code)).status).toBe(401);
});

test.each([{}, { otp: '12345' }, { otp: '١٢٣٤٥٦' }, { otp: '123456\n' }, { otp: '123456', password }])(
  'login rejects %j with 400',
  async (proof) => {
    const { status, body } = await platform.post('login', { email: 'a@example.com', ...proof });
    expect([status, body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
  },
);

test('a code expires after ten minutes', async () => {
  const [early, late] = [await platform.createUser(), await platform.createUser()];
  const codes = [await requestCode(early.email), await requestCode(late.email)];
  platform.identity.advance(10 * MINUTE - 20_000);
  expect((await login(early.email, codes[0] ?? '')).status).toBe(200);
  platform.identity.advance(20_000);
  expect((await login(late.email, codes[1] ?? '')).status).toBe(401);
});
