import { waitFor } from '@platform/testing';
import {
  beginChallenge,
  beginLogin,
  challengeIn,
  enrol,
  readOwnStatus,
  sendCode,
  startWithPhone,
} from './authenticator.js';

const { identity, session, phone } = await startWithPhone();
afterAll(() => identity.close());

async function createEnrolled() {
  const member = await identity.createMember(session);
  return { member, ...(await enrol(identity, phone, member.session)) };
}
const countSessions = async (userId: string) =>
  (await identity.db.query('select 1 from sessions where user_id = $1', [userId])).rowCount;
const auditOf = async (userId: string, action: string) =>
  (await identity.db.query('select detail from audit_entries where subject_id = $1 and action = $2', [userId, action])).rows; // prettier-ignore

test('AUTH-28 a login with a second factor answers 401 with a challenge, and opens a session only for the code', async () => {
  const { member, app } = await createEnrolled();
  const before = await countSessions(member.id);
  const answer = await beginLogin(identity, member);
  expect([answer.status, answer.body, answer.headers.get('cache-control')]).toEqual([
    401,
    {
      error: { code: 'SECOND_FACTOR_REQUIRED', message: 'A second factor is required' },
      signIn: { challenge: expect.stringMatching(/^[\w-]{43}$/), expiresAt: expect.stringMatching(/Z$/) },
    },
    'no-store',
  ]);
  expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="platform"');
  expect(await countSessions(member.id)).toBe(before);
  const challenge = challengeIn(answer);
  expect(await readOwnStatus(identity, challenge)).toBe(401);
  const done = await sendCode(identity, challenge, app.nextCode());
  expect([done.status, done.body]).toEqual([
    200,
    { accessToken: expect.any(String), tokenType: 'Bearer', expiresIn: 86_400, expiresAt: expect.any(String), user: expect.objectContaining({ id: member.id }) },
  ]); // prettier-ignore
  expect(await readOwnStatus(identity, done.body.accessToken as string)).toBe(200);
  const { rows } = await identity.db.query(
    `select detail from audit_entries where actor_id = $1 and action = 'session.created' order by id desc limit 1`,
    [member.id],
  );
  expect(rows).toEqual([{ detail: { method: 'password', secondFactor: 'totp' } }]);
});

test('AUTH-28 a challenge works once, and a code works once', async () => {
  const { member, app } = await createEnrolled();
  const [first, second] = [await beginChallenge(identity, member), await beginChallenge(identity, member)];
  const code = app.nextCode();
  expect((await sendCode(identity, first, code)).status).toBe(200);
  const replayed = await sendCode(identity, second, code);
  expect([replayed.status, replayed.body.error.code]).toEqual([401, 'SECOND_FACTOR_INVALID']);
  const reused = await sendCode(identity, first, app.nextCode());
  expect([reused.status, reused.body.error.code]).toEqual([401, 'SIGN_IN_EXPIRED']);
  expect((await sendCode(identity, second, app.nextCode())).status).toBe(200);
});

test('AUTH-28 the code that confirmed the app cannot be used again to sign in', async () => {
  const { member, firstCode } = await createEnrolled();
  expect((await sendCode(identity, await beginChallenge(identity, member), firstCode)).status).toBe(401);
});

test('AUTH-28 a challenge ends after ten minutes, with a new password, and with the member', async () => {
  const { member, app } = await createEnrolled();
  const late = await beginChallenge(identity, member);
  phone.advance(10 * 60_000);
  expect((await sendCode(identity, late, app.nextCode())).body.error.code).toBe('SIGN_IN_EXPIRED');
  const replaced = await beginChallenge(identity, member);
  const body = { currentPassword: member.password, newPassword: 'another-horse-staple' };
  expect((await identity.call('POST', '/api/v1/auth/password', { token: member.session, body })).status).toBe(200);
  expect((await sendCode(identity, replaced, app.nextCode())).body.error.code).toBe('SIGN_IN_EXPIRED');
  const removed = await beginChallenge(identity, { ...member, password: 'another-horse-staple' });
  await identity.call('DELETE', `/api/v1/users/${member.id}`, { token: session });
  expect((await sendCode(identity, removed, app.nextCode())).body.error.code).toBe('SIGN_IN_EXPIRED');
  expect((await sendCode(identity, 'nonsense', '123456')).body.error.code).toBe('SIGN_IN_EXPIRED');
  phone.advance(11 * 60_000);
  await identity.sweep();
  expect((await identity.db.query('select 1 from pending_sign_ins where user_id = $1', [member.id])).rowCount).toBe(0);
}); // prettier-ignore

test('AUTH-29 each recovery code signs in once, however it is typed, and is stored as a digest', async () => {
  const { member, recoveryCodes } = await createEnrolled();
  expect(recoveryCodes).toHaveLength(10);
  const [code = ''] = recoveryCodes;
  const { rows } = await identity.db.query('select code_hash from recovery_codes where user_id = $1', [member.id]);
  expect(JSON.stringify(rows)).not.toContain(code.replaceAll('-', ''));
  const typed = ` ${code.toUpperCase().replaceAll('-', ' ')} `;
  expect((await sendCode(identity, await beginChallenge(identity, member), typed)).status).toBe(200);
  const again = await beginChallenge(identity, member);
  expect((await sendCode(identity, again, code)).body.error.code).toBe('SECOND_FACTOR_INVALID');
  // A code of somebody else opens nothing.
  const other = await createEnrolled();
  expect((await sendCode(identity, again, other.recoveryCodes[0] ?? '')).status).toBe(401);
}); // prettier-ignore

test('AUTH-30 ten wrong codes from one network lead to 429, and are in the audit', async () => {
  const { member, app } = await createEnrolled();
  const challenge = await beginChallenge(identity, member);
  const statuses = [];
  for (let guess = 0; guess < 11; guess += 1)
    statuses.push((await sendCode(identity, challenge, '000000')).status);
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429]);
  expect((await sendCode(identity, challenge, app.nextCode())).status).toBe(429);
  await waitFor(async () => (await auditOf(member.id, 'sign_in.failed')).length === 10, {
    what: 'the audit of the failures',
  });
});

test('AUTH-28 a first factor is in the audit, although the second one never comes', async () => {
  const { member } = await createEnrolled();
  await beginChallenge(identity, member);
  expect(await auditOf(member.id, 'sign_in.first_factor')).toHaveLength(1);
});

test('AUTH-28 logins of people without a second factor stay as they are', async () => {
  const member = await identity.createMember(session);
  const { status, body } = await beginLogin(identity, member);
  expect([status, Object.keys(body as object)]).toEqual([200, ['accessToken', 'tokenType', 'expiresIn', 'expiresAt', 'user']]);
}); // prettier-ignore

test('AUTH-28 the response to a wrong password is the same with and without a second factor', async () => {
  const { member } = await createEnrolled();
  const plain = await identity.createMember(session);
  const [one, other] = await Promise.all([member, plain].map(({ email }) => beginLogin(identity, { email, password: 'wrong' })));
  expect([one?.status, one?.body]).toEqual([401, other?.body]);
}); // prettier-ignore

// The last one, because the administrator's session ends with the day.
test('AUTH-30 thirty wrong codes in a day end the app for the day, from every network, and leave the recovery codes', async () => {
  const { member, app, recoveryCodes } = await createEnrolled();
  await identity.db.query('update totp_factors set wrong_codes = 29, wrong_since = now() where user_id = $1', [member.id]);
  const challenge = await beginChallenge(identity, member);
  expect((await sendCode(identity, challenge, '000000')).status).toBe(401);
  const exhausted = await sendCode(identity, challenge, app.nextCode());
  expect([exhausted.status, exhausted.body.error.code]).toEqual([429, 'RATE_LIMITED']);
  expect(Number(exhausted.headers.get('retry-after'))).toBeGreaterThan(80_000);
  expect((await sendCode(identity, challenge, recoveryCodes[0] ?? '')).status).toBe(200);
  phone.advance(24 * 60 * 60_000);
  expect((await sendCode(identity, await beginChallenge(identity, member), app.nextCode())).status).toBe(200);
}); // prettier-ignore
