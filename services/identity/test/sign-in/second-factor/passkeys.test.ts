import type { Member } from '../../identity.js';
import {
  beginChallenge,
  beginLogin,
  challengeIn,
  enrol,
  readState,
  sendCode,
  startWithPhone,
} from './authenticator.js';
import {
  addPasskey,
  askPasskey,
  beginPasskey,
  confirmPasskey,
  createPasskey,
  type Forged,
  prove,
  removePasskey,
  sendPasskey,
  signInWith,
} from './passkey.js';

const { identity, session, phone } = await startWithPhone();
afterAll(() => identity.close());

const audited = async (userId: string) =>
  (await identity.db.query<{ action: string; detail: object }>(`select action, detail from audit_entries where subject_id = $1 and action like 'second_factor.%' order by id`, [userId])).rows; // oxfmt-ignore

async function createEnrolled() {
  const member = await identity.createMember(session);
  return { member, ...(await addPasskey(identity, member.session)) };
}

test('AUTH-36 a passkey is a second factor: it is set up with the password, and signs in after it', async () => {
  const { member, passkey, options, recoveryCodes } = await createEnrolled();
  expect(recoveryCodes).toHaveLength(10);
  expect(await readState(identity, member.session)).toMatchObject({
    totp: null,
    passkeys: [{ id: expect.any(String), name: 'My key', createdAt: expect.any(String), lastUsedAt: null }],
    recoveryCodesLeft: 10,
  });
  // The handle is stored on devices: it contains the id of the account and nothing else.
  const handle = Buffer.from(options.user?.id ?? '', 'base64url').toString('hex');
  expect(handle).toBe(member.id.replaceAll('-', ''));
  const answer = await beginLogin(identity, member);
  expect([answer.status, answer.body.error.code]).toEqual([401, 'SECOND_FACTOR_REQUIRED']);
  const challenge = challengeIn(answer);
  expect((await askPasskey(identity, challenge)).body).toMatchObject({ rpId: 'localhost', allowCredentials: [{ id: passkey.id, transports: ['internal'] }] });
  const done = await signInWith(identity, challenge, passkey);
  expect([done.status, done.body.user.id]).toEqual([200, member.id]);
  expect((await readState(identity, done.body.accessToken as string)).passkeys[0].lastUsedAt).toEqual(expect.any(String));
  const { rows } = await identity.db.query(`select detail from audit_entries where actor_id = $1 and action = 'session.created' order by id desc limit 1`, [member.id]);
  expect(rows).toEqual([{ detail: { method: 'password', secondFactor: 'passkey' } }]);
  expect(await audited(member.id)).toEqual([{ action: 'second_factor.enrolled', detail: { factor: 'passkey', name: 'My key' } }]);
}); // oxfmt-ignore

test('AUTH-36 a recovery code signs in an account whose only factor is a passkey, and a code of an app does not', async () => {
  const { member, recoveryCodes } = await createEnrolled();
  const challenge = await beginChallenge(identity, member);
  expect((await sendCode(identity, challenge, '123456')).status).toBe(401);
  expect((await sendCode(identity, challenge, recoveryCodes?.[0] ?? '')).status).toBe(200);
});

const forgeries: [string, Forged][] = [
  ['another origin', { origin: 'https://localhost.evil.example' }],
  ['another port', { origin: 'http://localhost:8081' }],
  ['another relying party', { rpId: 'evil.example' }],
  ['another challenge', { challenge: Buffer.alloc(32).toString('base64url') }],
  ['another ceremony', { type: 'webauthn.create' }],
  ['another account', { userHandle: Buffer.alloc(16).toString('base64url') }],
];
test.each(forgeries)('AUTH-37 an answer for %s is refused', async (_name, forged) => {
  const { member, passkey } = await createEnrolled();
  const refused = await signInWith(identity, await beginChallenge(identity, member), passkey, forged);
  expect([refused.status, refused.body.error.code]).toEqual([401, 'SECOND_FACTOR_INVALID']);
  expect((await signInWith(identity, await beginChallenge(identity, member), passkey)).status).toBe(200);
});

test.each<[string, Forged]>([
  ...forgeries.slice(0, 4),
  ['another ceremony', { type: 'webauthn.get' }],
  ['a statement with certificates', { hasCertificate: true }],
])('AUTH-37 a passkey made with %s is not set up', async (_name, forged) => {
  const member = await identity.createMember(session);
  const { body } = await beginPasskey(identity, member.session);
  const registration = createPasskey().register(body as { challenge: string }, forged);
  const refused = await confirmPasskey(identity, member.session, { registration });
  expect([refused.status, refused.body.error.code]).toEqual([400, 'PASSKEY_INVALID']);
  // The challenge is used up by whatever is presented for it.
  const honest = createPasskey().register(body as { challenge: string });
  expect((await confirmPasskey(identity, member.session, { registration: honest })).status).toBe(400);
  expect((await readState(identity, member.session)).passkeys).toEqual([]);
});

test('AUTH-37 an answer works once, and for the sign-in that asked for it', async () => {
  const { member, passkey } = await createEnrolled();
  const [first, second] = [await beginChallenge(identity, member), await beginChallenge(identity, member)];
  const { body } = await askPasskey(identity, first);
  await askPasskey(identity, second);
  const answer = passkey.use(body as { challenge: string });
  const elsewhere = await sendPasskey(identity, second, answer);
  expect([elsewhere.status, elsewhere.body.error.code]).toEqual([401, 'SECOND_FACTOR_INVALID']);
  expect((await sendPasskey(identity, first, answer)).status).toBe(200);
  expect((await sendPasskey(identity, first, answer)).body.error.code).toBe('SIGN_IN_EXPIRED');
  // A refused answer has used its challenge up as well.
  const third = await beginChallenge(identity, member);
  const asked = (await askPasskey(identity, third)).body as { challenge: string };
  expect((await sendPasskey(identity, third, passkey.use(asked, { origin: 'https://evil.example' }))).status).toBe(401);
  expect((await sendPasskey(identity, third, passkey.use(asked))).status).toBe(401);
  expect((await signInWith(identity, third, passkey)).status).toBe(200);
}); // oxfmt-ignore

test('AUTH-53 a passkey opens no other account, and is set up in one only', async () => {
  const [mine, theirs] = [await createEnrolled(), await createEnrolled()];
  const challenge = await beginChallenge(identity, mine.member);
  expect((await signInWith(identity, challenge, theirs.passkey)).status).toBe(401);
  const proof = await prove(identity, mine.member.session, mine.passkey);
  const begun = (await beginPasskey(identity, mine.member.session, proof)).body as { challenge: string };
  const registration = theirs.passkey.register(begun);
  const again = await confirmPasskey(identity, mine.member.session, { registration });
  expect([again.status, again.body.error.code]).toEqual([409, 'PASSKEY_EXISTS']);
});

test('AUTH-37 a challenge ends after ten minutes, and with the member', async () => {
  const { member, passkey } = await createEnrolled();
  const { body } = await beginPasskey(identity, member.session, await prove(identity, member.session, passkey));
  const registration = createPasskey().register(body as { challenge: string });
  const challenge = await beginChallenge(identity, member);
  await askPasskey(identity, challenge);
  phone.advance(10 * 60_000);
  expect((await confirmPasskey(identity, member.session, { registration })).status).toBe(400);
  const removed = await beginChallenge(identity, member);
  const options = (await askPasskey(identity, removed)).body as { challenge: string };
  await identity.call('DELETE', `/api/v1/users/${member.id}`, { token: session });
  const late = await sendPasskey(identity, removed, passkey.use(options));
  expect(late.body.error.code).toBe('SIGN_IN_EXPIRED');
  phone.advance(11 * 60_000);
  await identity.sweep();
  expect((await identity.db.query('select 1 from passkey_challenges where user_id = $1', [member.id])).rowCount).toBe(0);
}); // oxfmt-ignore

test('AUTH-38 a passkey whose counter fell is refused and audited, and one without a counter is not', async () => {
  const { member, passkey } = await createEnrolled();
  expect(
    (await signInWith(identity, await beginChallenge(identity, member), passkey, { counter: 7 })).status,
  ).toBe(200);
  for (const counter of [7, 6, 0])
    expect(
      (await signInWith(identity, await beginChallenge(identity, member), passkey, { counter })).status,
    ).toBe(401);
  const [, ...fallen] = await audited(member.id);
  const detail = { factor: 'passkey', name: 'My key' };
  expect(fallen).toEqual(Array.from({ length: 3 }, () => ({ action: 'second_factor.counter_fell', detail })));
  expect(
    (await signInWith(identity, await beginChallenge(identity, member), passkey, { counter: 8 })).status,
  ).toBe(200);
  const other = await identity.createMember(session);
  const synced = await addPasskey(identity, other.session, {}, createPasskey({ hasCounter: false }));
  for (let round = 0; round < 2; round += 1)
    expect((await signInWith(identity, await beginChallenge(identity, other), synced.passkey)).status).toBe(
      200,
    );
});

test('AUTH-39 removing a passkey with a stolen session takes a factor', async () => {
  const { member, passkey } = await createEnrolled();
  const { app } = await enrol(identity, phone, member.session, undefined, await prove(identity, member.session, passkey));
  const [{ id }] = (await readState(identity, member.session)).passkeys as [{ id: string }];
  const alone = await removePasskey(identity, member, id);
  expect(alone.body.error.code).toBe('SECOND_FACTOR_REQUIRED');
  const used = await prove(identity, member.session, passkey);
  expect((await removePasskey(identity, member, id, { ...used, code: app.code() })).status).toBe(400);
  const foreign = await createEnrolled();
  const theirs = await prove(identity, foreign.member.session, foreign.passkey);
  expect((await removePasskey(identity, member, id, theirs)).body.error.code).toBe('SECOND_FACTOR_INVALID');
  expect((await removePasskey(identity, foreign.member, id, theirs)).status).toBe(404);
  expect((await readState(identity, member.session)).passkeys).toHaveLength(1);
  expect((await removePasskey(identity, member, id, { code: app.nextCode() })).status).toBe(200);
  // The app is left, and the codes with it.
  expect(await readState(identity, member.session)).toMatchObject({ passkeys: [], recoveryCodesLeft: 10 });
  const challenge = await beginChallenge(identity, member);
  expect((await askPasskey(identity, challenge)).body.error.code).toBe('NO_PASSKEY');
  expect((await sendCode(identity, challenge, app.nextCode())).status).toBe(200);
}); // oxfmt-ignore

const OWN = '/api/v1/auth/second-factor';
const LOGIN = '/api/v1/auth/login/second-factor';
const SETTINGS = '/api/v1/configurationManager/signInConfig';

const post = (path: string, token: string | undefined, body: object) =>
  identity.call('POST', path, { body, ...(token !== undefined && { token }) });
const idsOf = async ({ session: token }: Member) =>
  ((await readState(identity, token)).passkeys as { id: string }[]).map(({ id }) => id);
const rename = (token: string, id: string, name: string) =>
  identity.call('PATCH', `${OWN}/passkeys/${id}`, { token, body: { name } });

test('AUTH-39 with a second factor, a password alone adds no passkey', async () => {
  const { member, passkey } = await createEnrolled();
  expect((await beginPasskey(identity, member.session)).body.error.code).toBe('SECOND_FACTOR_REQUIRED');
  const wrong = await beginPasskey(identity, member.session, { code: '000000' });
  expect(wrong.body.error.code).toBe('SECOND_FACTOR_INVALID');
  const second = await addPasskey(identity, member.session, await prove(identity, member.session, passkey));
  expect([second.recoveryCodes, (await idsOf(member)).length]).toEqual([null, 2]);
  expect(second.options).toMatchObject({ excludeCredentials: [{ id: passkey.id }] });
  expect((await signInWith(identity, await beginChallenge(identity, member), second.passkey)).status).toBe(
    200,
  );
});

test('AUTH-39 what was begun before a factor changed is not completed after it', async () => {
  const member = await identity.createMember(session);
  // With the password of somebody who has no second factor yet, a thief begins to set up both kinds.
  const thief = await identity.login({ email: member.email, password: member.password });
  const passkey = (await beginPasskey(identity, thief)).body as { challenge: string };
  const app = (await post(`${OWN}/totp`, thief, {})).body as Record<string, string>;
  await addPasskey(identity, member.session);
  const registration = createPasskey().register(passkey);
  expect((await confirmPasskey(identity, thief, { registration })).body.error.code).toBe('PASSKEY_INVALID');
  const code = phone.install(app['secret'] ?? '').code();
  const late = await post(`${OWN}/totp/confirm`, thief, { enrolment: app['enrolment'], code });
  expect(late.body.error.code).toBe('ENROLMENT_EXPIRED');
  expect(await readState(identity, member.session)).toMatchObject({ totp: null, passkeys: [{ name: 'My key' }] });
}); // oxfmt-ignore

test('AUTH-39 a set-up belongs to the session that began it', async () => {
  const member = await identity.createMember(session);
  const { body } = await beginPasskey(identity, member.session);
  const registration = createPasskey().register(body as { challenge: string });
  const other = await identity.login({ email: member.email, password: member.password });
  expect((await confirmPasskey(identity, other, { registration })).body.error.code).toBe('PASSKEY_INVALID');
  expect((await confirmPasskey(identity, member.session, { registration })).status).toBe(200);
});

test('AUTH-60 passkeys have names, which their owner changes and the audit keeps', async () => {
  const { member } = await createEnrolled();
  const foreign = await identity.createMember(session);
  const [id = ''] = await idsOf(member);
  expect((await rename(foreign.session, id, 'Mine')).status).toBe(404);
  expect((await rename(member.session, id, '‮')).status).toBe(400);
  expect((await rename(member.session, id, ' Blue key ')).status).toBe(200);
  expect((await readState(identity, member.session)).passkeys).toMatchObject([{ name: 'Blue key' }]);
  const { rows } = await identity.db.query(`select changes from audit_entries where subject_id = $1 and action = 'second_factor.renamed'`, [member.id]);
  expect(rows).toEqual([{ changes: { name: { from: 'My key', to: 'Blue key' } } }]);
}); // oxfmt-ignore

test('AUTH-60 an account has ten passkeys at most', async () => {
  const { member, passkey } = await createEnrolled();
  await identity.db.query(
    `insert into passkeys select gen_random_uuid(), org_id, user_id, 'c' || n || id, public_key, 0, transports, name, created_at
     from passkeys, generate_series(1, 8) n where user_id = $1`,
    [member.id],
  );
  await addPasskey(identity, member.session, await prove(identity, member.session, passkey));
  expect((await readState(identity, member.session)).canAddPasskey).toBe(false);
  const proof = await prove(identity, member.session, passkey);
  const eleventh = await beginPasskey(identity, member.session, proof);
  expect([eleventh.status, eleventh.body.error.code]).toEqual([409, 'PASSKEY_LIMIT']);
});

test('AUTH-32 a reset removes passkeys too, and shows in the list of members', async () => {
  const { member } = await createEnrolled();
  await enrol(identity, phone, (await identity.createMember(session)).session);
  const list = async () => {
    const { data } = (await identity.call('GET', '/api/v1/users?limit=50', { token: session })).body as { data: { id: string; secondFactors: string[] }[] };
    return { mine: data.find(({ id }) => id === member.id)?.secondFactors, all: data.map(({ secondFactors }) => secondFactors) };
  };
  const before = await list();
  expect(before.mine).toEqual(['passkey']);
  expect(before.all).toEqual(expect.arrayContaining([['totp'], []]));
  const path = `/api/v1/users/${member.id}/second-factor`;
  expect((await identity.call('DELETE', path, { token: session })).status).toBe(200);
  expect((await list()).mine).toEqual([]);
  expect((await beginLogin(identity, member)).status).toBe(200);
  expect((await identity.call('DELETE', path, { token: session })).body.error.code).toBe('NO_SECOND_FACTOR');
}); // oxfmt-ignore

test('AUTH-33 where a second factor is required, a passkey is one', async () => {
  const { session: boss } = await identity.createOrganisation('owner@keys.example');
  const member = await identity.createMember(boss);
  const { passkey: own } = await addPasskey(identity, boss);
  const saved = await post(SETTINGS, boss, { codesEnabled: true, secondFactorRequired: true, endSessions: true });
  // The session of the member without a factor, and none of the administrator, who has a passkey.
  expect(saved.body.endedCount).toBe(1);
  const answer = await beginLogin(identity, member);
  expect(answer.body.error.code).toBe('SECOND_FACTOR_ENROLMENT_REQUIRED');
  const [challenge, later] = [challengeIn(answer), await beginChallenge(identity, member)];
  const begun = (await post(`${LOGIN}/passkey-creation-options`, undefined, { challenge })).body as { challenge: string };
  const passkey = createPasskey();
  const made = { challenge, registration: passkey.register(begun) };
  const foreign = await post(`${LOGIN}/passkeys`, undefined, { ...made, challenge: later });
  expect(foreign.body.error.code).toBe('PASSKEY_INVALID');
  const done = await post(`${LOGIN}/passkeys`, undefined, made);
  expect([done.status, done.body.recoveryCodes.length]).toEqual([200, 10]);
  // Whoever knows the password cannot set up another passkey beside it.
  const stale = await post(`${LOGIN}/passkey-creation-options`, undefined, { challenge: later });
  expect(stale.body.error.code).toBe('SIGN_IN_EXPIRED');
  const token = done.body.accessToken as string;
  const [{ id }] = (await readState(identity, token)).passkeys as [{ id: string }];
  const mine = { ...member, session: token };
  const last = await removePasskey(identity, mine, id, await prove(identity, token, passkey));
  expect([last.status, last.body.error.code]).toEqual([409, 'LAST_SECOND_FACTOR']);
  expect(await readState(identity, token)).toMatchObject({ passkeys: [{ id }], recoveryCodesLeft: 10 });
  const disabled = await post(`${OWN}/totp/disable`, boss, { ...(await prove(identity, boss, own)) });
  expect(disabled.body.error.code).toBe('NO_SECOND_FACTOR');
}); // oxfmt-ignore
