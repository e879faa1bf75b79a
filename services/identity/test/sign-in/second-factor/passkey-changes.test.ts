import { type Member, startIdentity } from '../../identity.js';
import {
  beginChallenge,
  beginLogin,
  challengeIn,
  enrol,
  readState,
  startWithPhone,
} from './authenticator.js';
import {
  addPasskey,
  beginPasskey,
  confirmPasskey,
  createPasskey,
  prove,
  removePasskey,
  signInWith,
} from './passkey.js';

const OWN = '/api/v1/auth/second-factor';
const LOGIN = '/api/v1/auth/login/second-factor';
const SETTINGS = '/api/v1/configurationManager/signInConfig';

const { identity, session, phone } = await startWithPhone();
afterAll(() => identity.close());

const post = (path: string, token: string | undefined, body: object) =>
  identity.call('POST', path, { body, ...(token !== undefined && { token }) });
const idsOf = async ({ session: token }: Member) =>
  ((await readState(identity, token)).passkeys as { id: string }[]).map(({ id }) => id);
const rename = (token: string, id: string, name: string) =>
  identity.call('PATCH', `${OWN}/passkeys/${id}`, { token, body: { name } });

async function createEnrolled() {
  const member = await identity.createMember(session);
  return { member, ...(await addPasskey(identity, member.session)) };
}

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
}); // prettier-ignore

test('AUTH-39 a set-up belongs to the session that began it', async () => {
  const member = await identity.createMember(session);
  const { body } = await beginPasskey(identity, member.session);
  const registration = createPasskey().register(body as { challenge: string });
  const other = await identity.login({ email: member.email, password: member.password });
  expect((await confirmPasskey(identity, other, { registration })).body.error.code).toBe('PASSKEY_INVALID');
  expect((await confirmPasskey(identity, member.session, { registration })).status).toBe(200);
});

test('AUTH-39 passkeys have names, which their owner changes and the audit keeps', async () => {
  const { member } = await createEnrolled();
  const foreign = await identity.createMember(session);
  const [id = ''] = await idsOf(member);
  expect((await rename(foreign.session, id, 'Mine')).status).toBe(404);
  expect((await rename(member.session, id, '‮')).status).toBe(400);
  expect((await rename(member.session, id, ' Blue key ')).status).toBe(200);
  expect((await readState(identity, member.session)).passkeys).toMatchObject([{ name: 'Blue key' }]);
  const { rows } = await identity.db.query(`select changes from audit_entries where subject_id = $1 and action = 'second_factor.renamed'`, [member.id]);
  expect(rows).toEqual([{ changes: { name: { from: 'My key', to: 'Blue key' } } }]);
}); // prettier-ignore

test('AUTH-39 an account has ten passkeys at most', async () => {
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
}); // prettier-ignore

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
  // Who knows the password cannot set up one of their own beside it.
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
}); // prettier-ignore

test('AUTH-36 there are no passkeys at an address without a host name', async () => {
  const bare = await startIdentity({ environment: { PUBLIC_URL: 'https://192.0.2.1' } });
  try {
    const token = await bare.login();
    const begun = await beginPasskey(bare, token);
    expect([begun.status, begun.body.error.code]).toEqual([409, 'PASSKEYS_UNAVAILABLE']);
    expect((await bare.call('GET', OWN, { token })).body.secondFactor.canAddPasskey).toBe(false);
  } finally {
    await bare.close();
  }
});
