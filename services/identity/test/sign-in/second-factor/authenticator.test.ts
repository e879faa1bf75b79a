import { waitFor } from '@platform/testing';
import {
  beginChallenge,
  beginLogin,
  challengeIn,
  enrol,
  listAudited,
  readOwnStatus,
  readState,
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
  (await identity.db.query('select detail from audit_entries where subject_id = $1 and action = $2', [userId, action])).rows; // oxfmt-ignore

const OWN = '/api/v1/auth/second-factor';
const post = (path: string, token: string | undefined, body: object) =>
  identity.call('POST', path, { body, ...(token !== undefined && { token }) });

const TEN_MINUTES = 10 * 60_000;
const confirmSession = (token: string, currentPassword: string) =>
  post('/api/v1/sessions/confirm', token, { currentPassword });

// First, because limits are forgotten once the clock of the service is a quarter of an hour ahead.
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

test('AUTH-30 ten wrong codes of one network at the own second factor are followed by 429', async () => {
  const member = await identity.createMember(session);
  await enrol(identity, phone, member.session);
  const statuses = [];
  for (let guess = 0; guess < 11; guess += 1)
    statuses.push((await post(`${OWN}/totp`, member.session, { code: '000000' })).status);
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 400), 429]);
  const challenge = challengeIn(await beginLogin(identity, member));
  expect((await sendCode(identity, challenge, '000000')).status).toBe(429);
});

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
  expect(await auditOf(member.id, 'sign_in.first_factor')).toHaveLength(1);
  const challenge = challengeIn(answer);
  expect(await readOwnStatus(identity, challenge)).toBe(401);
  const done = await sendCode(identity, challenge, app.nextCode());
  expect([done.status, done.body]).toEqual([
    200,
    { accessToken: expect.any(String), tokenType: 'Bearer', expiresIn: 86_400, expiresAt: expect.any(String), user: expect.objectContaining({ id: member.id }) },
  ]); // oxfmt-ignore
  expect(await readOwnStatus(identity, done.body.accessToken as string)).toBe(200);
  const { rows } = await identity.db.query(
    `select detail from audit_entries where actor_id = $1 and action = 'session.created' order by id desc limit 1`,
    [member.id],
  );
  expect(rows).toEqual([{ detail: { method: 'password', secondFactor: 'totp' } }]);
});

test('AUTH-45 AUTH-46 a challenge works once, and a code works once', async () => {
  const { member, app, firstCode } = await createEnrolled();
  const [first, second] = [await beginChallenge(identity, member), await beginChallenge(identity, member)];
  // The code that confirmed the app has been used as well.
  expect((await sendCode(identity, first, firstCode)).status).toBe(401);
  const code = app.nextCode();
  expect((await sendCode(identity, first, code)).status).toBe(200);
  const replayed = await sendCode(identity, second, code);
  expect([replayed.status, replayed.body.error.code]).toEqual([401, 'SECOND_FACTOR_INVALID']);
  const reused = await sendCode(identity, first, app.nextCode());
  expect([reused.status, reused.body.error.code]).toEqual([401, 'SIGN_IN_EXPIRED']);
  expect((await sendCode(identity, second, app.nextCode())).status).toBe(200);
});

test('AUTH-45 a challenge ends after ten minutes, with a new password, and with the member', async () => {
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
}); // oxfmt-ignore

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
}); // oxfmt-ignore

test('AUTH-28 the response to a wrong password is the same with and without a second factor', async () => {
  const { member } = await createEnrolled();
  const plain = await identity.createMember(session);
  const [one, other] = await Promise.all([member, plain].map(({ email }) => beginLogin(identity, { email, password: 'wrong' })));
  expect([one?.status, one?.body]).toEqual([401, other?.body]);
}); // oxfmt-ignore

test('AUTH-31 setting an app up needs a confirmed session and a code of the app, and stores the secret sealed', async () => {
  const member = await identity.createMember(session);
  expect(await readState(identity, member.session)).toEqual({ totp: null, passkeys: [], canAddPasskey: true, recoveryCodesLeft: 0, isRequired: false });
  phone.advance(TEN_MINUTES);
  const refused = await post(`${OWN}/totp`, member.session, {});
  expect([refused.status, refused.body.error.code]).toEqual([403, 'CONFIRMATION_REQUIRED']);
  expect((await confirmSession(member.session, member.password)).status).toBe(200);
  const begun = await post(`${OWN}/totp`, member.session, {});
  const { secret, uri, enrolment } = begun.body as Record<string, string>;
  expect([begun.status, begun.headers.get('cache-control')]).toEqual([200, 'no-store']);
  expect(Object.fromEntries(new URL(uri ?? '').searchParams)).toMatchObject({ secret, issuer: 'Example' });
  // Nothing changes before the app has shown a code.
  expect((await beginLogin(identity, member)).status).toBe(200);
  const wrong = await post(`${OWN}/totp/confirm`, member.session, { enrolment, code: '000000' });
  expect([wrong.status, wrong.body.error.code]).toEqual([400, 'SECOND_FACTOR_INVALID']);
  const code = phone.install(secret ?? '').code();
  const confirmed = await post(`${OWN}/totp/confirm`, member.session, { enrolment, code });
  expect([confirmed.status, confirmed.body.recoveryCodes]).toEqual([200, expect.arrayContaining([expect.any(String)])]);
  expect(await readState(identity, member.session)).toMatchObject({ totp: { createdAt: expect.any(String) }, recoveryCodesLeft: 10 });
  const { rows } = await identity.db.query('select secret_sealed from totp_factors where user_id = $1', [member.id]);
  expect(rows).toEqual([{ secret_sealed: expect.stringMatching(/^v1\.k1\./) }]);
  expect(await listAudited(identity, member.id)).toEqual(['second_factor.enrolled']);
  expect(identity.logged()).not.toContain(secret);
}); // oxfmt-ignore

test('AUTH-49 an enrolment belongs to its session, for ten minutes', async () => {
  const [one, other] = [await identity.createMember(session), await identity.createMember(session)];
  const { secret, enrolment } = (await post(`${OWN}/totp`, one.session, {})).body as Record<string, string>;
  const app = phone.install(secret ?? '');
  const again = await identity.login({ email: one.email, password: one.password });
  for (const token of [other.session, again]) {
    const { status, body } = await post(`${OWN}/totp/confirm`, token, { enrolment, code: app.code() });
    expect([status, body.error.code]).toEqual([400, 'ENROLMENT_EXPIRED']);
  }
  phone.advance(TEN_MINUTES);
  const late = await post(`${OWN}/totp/confirm`, one.session, { enrolment, code: app.code() });
  expect(late.body.error.code).toBe('ENROLMENT_EXPIRED');
  expect((await readState(identity, one.session)).totp).toBeNull();
}); // oxfmt-ignore

test('AUTH-48 another app takes the place of a lost one with a recovery code, and the other codes stay', async () => {
  const member = await identity.createMember(session);
  const first = await enrol(identity, phone, member.session);
  const second = await enrol(identity, phone, member.session, first.recoveryCodes[0]);
  expect([first.recoveryCodes.length, second.recoveryCodes]).toEqual([10, null]);
  expect(await readState(identity, member.session)).toMatchObject({ recoveryCodesLeft: 9 });
  const challenge = challengeIn(await beginLogin(identity, member));
  expect((await sendCode(identity, challenge, first.app.nextCode())).status).toBe(401);
  expect((await sendCode(identity, challenge, second.app.nextCode())).status).toBe(200);
});

test('AUTH-48 with a second factor, the password alone neither replaces nor removes it, nor renews its recovery codes', async () => {
  const member = await identity.createMember(session);
  const { app, firstCode, recoveryCodes } = await enrol(identity, phone, member.session);
  const before = await readState(identity, member.session);
  for (const path of ['totp', 'totp/disable', 'recovery-codes']) {
    const alone = await post(`${OWN}/${path}`, member.session, {});
    expect([alone.status, alone.body.error.code]).toEqual([400, 'SECOND_FACTOR_REQUIRED']);
    // A wrong code, the code that confirmed the app, and a recovery code of somebody else.
    for (const code of ['000000', firstCode, '0000-0000-0000-0000']) {
      const wrong = await post(`${OWN}/${path}`, member.session, { code });
      expect([wrong.status, wrong.body.error.code]).toEqual([400, 'SECOND_FACTOR_INVALID']);
    }
  }
  const code = app.nextCode();
  expect(await readState(identity, member.session)).toEqual(before);
  expect(await listAudited(identity, member.id)).toEqual(['second_factor.enrolled']);
  const { rows } = await identity.db.query('select wrong_codes from totp_factors where user_id = $1', [member.id]);
  expect(rows).toEqual([{ wrong_codes: 6 }]);
  // The code is still unused, and works once.
  expect((await post(`${OWN}/recovery-codes`, member.session, { code })).status).toBe(200);
  expect((await post(`${OWN}/totp/disable`, member.session, { code })).body.error.code).toBe('SECOND_FACTOR_INVALID');
  expect((await post(`${OWN}/totp/disable`, member.session, { code: recoveryCodes[0] })).status).toBe(400);
  expect((await post(`${OWN}/totp/disable`, member.session, { code: app.nextCode() })).status).toBe(200);
}); // oxfmt-ignore

test('AUTH-49 an enrolment takes the place of no app that came after it', async () => {
  const member = await identity.createMember(session);
  const begin = async (body: object) =>
    (await post(`${OWN}/totp`, member.session, { ...body })).body as Record<string, string>;
  const confirm = ({ secret = '', enrolment }: Record<string, string>) =>
    post(`${OWN}/totp/confirm`, member.session, { enrolment, code: phone.install(secret).code() });
  const early = await begin({});
  const { app } = await enrol(identity, phone, member.session);
  expect((await confirm(early)).body.error.code).toBe('ENROLMENT_EXPIRED');
  const [one, other] = [await begin({ code: app.nextCode() }), await begin({ code: app.nextCode() })];
  expect((await confirm(one)).status).toBe(200);
  expect((await confirm(other)).body.error.code).toBe('ENROLMENT_EXPIRED');
});

test('AUTH-31 the app is removed, and recovery codes renewed, in a confirmed session with a code', async () => {
  const member = await identity.createMember(session);
  const { app, recoveryCodes } = await enrol(identity, phone, member.session);
  phone.advance(TEN_MINUTES);
  // No code is looked at before.
  for (const path of ['totp/disable', 'recovery-codes'])
    expect((await post(`${OWN}/${path}`, member.session, { code: recoveryCodes[0] })).body.error.code).toBe('CONFIRMATION_REQUIRED');
  await confirmSession(member.session, member.password);
  const renewed = await post(`${OWN}/recovery-codes`, member.session, { code: app.nextCode() });
  expect([renewed.status, renewed.body.recoveryCodes.length]).toEqual([200, 10]);
  const challenge = challengeIn(await beginLogin(identity, member));
  expect((await sendCode(identity, challenge, recoveryCodes[0] ?? '')).status).toBe(401);
  expect((await sendCode(identity, challenge, renewed.body.recoveryCodes[0] as string)).status).toBe(200);
  const removed = await post(`${OWN}/totp/disable`, member.session, { code: app.nextCode() });
  expect(removed.status).toBe(200);
  expect((await beginLogin(identity, member)).status).toBe(200);
  const pending = challengeIn(await beginLogin(identity, member));
  expect((await sendCode(identity, pending, app.nextCode())).status).toBe(400);
  for (const path of ['totp/disable', 'recovery-codes'])
    expect((await post(`${OWN}/${path}`, member.session, {})).body.error.code).toBe('NO_SECOND_FACTOR');
  expect(await listAudited(identity, member.id)).toEqual(['second_factor.enrolled', 'second_factor.codes_renewed', 'second_factor.removed']);
}); // oxfmt-ignore

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
}); // oxfmt-ignore
