import { decodeJwt } from 'jose';
import { admin } from '../../identity.js';
import { waitForLockWaiters } from '../../lock-waiters.js';
import {
  beginLogin,
  challengeIn,
  enrol,
  listAudited,
  readOwnStatus,
  readState,
  sendCode,
  startWithPhone,
} from './authenticator.js';

const OWN = '/api/v1/auth/second-factor';
const SETTINGS = '/api/v1/configurationManager/signInConfig';

const { identity, session, phone } = await startWithPhone();
afterAll(() => identity.close());

const post = (path: string, token: string | undefined, body: object) =>
  identity.call('POST', path, { body, ...(token !== undefined && { token }) });

test('AUTH-32 an administrator resets the second factor of a member, whose sessions end', async () => {
  const member = await identity.createMember(session);
  await enrol(identity, phone, member.session);
  const path = `/api/v1/users/${member.id}/second-factor`;
  const foreign = await identity.createOrganisation(`boss-${member.id}@example.com`);
  expect((await identity.call('DELETE', path, { token: foreign.session })).status).toBe(404);
  expect((await beginLogin(identity, member)).status).toBe(401);
  expect((await identity.call('DELETE', path, { token: session })).status).toBe(200);
  expect(await readOwnStatus(identity, member.session)).toBe(401);
  expect((await beginLogin(identity, member)).status).toBe(200);
  expect((await identity.call('DELETE', path, { token: session })).body.error.code).toBe('NO_SECOND_FACTOR');
  expect(await listAudited(identity, member.id)).toEqual(['second_factor.enrolled', 'second_factor.reset']);
});

test('AUTH-32 an administrator cannot reset the own second factor', async () => {
  const path = `/api/v1/users/${decodeJwt(session).sub}/second-factor`;
  const answer = await identity.call('DELETE', path, { token: session });
  expect([answer.status, answer.body.error.code]).toEqual([409, 'OWN_SECOND_FACTOR']);
});

describe('AUTH-33 in an organisation that requires a second factor', () => {
  let boss: string;
  const owner = { email: 'owner@strict.example', password: admin.password };
  const require = (body: object) => post(SETTINGS, boss, { codesEnabled: true, ...body });
  beforeAll(async () => {
    ({ session: boss } = await identity.createOrganisation(owner.email));
  });

  test('who has none sets one up at the next sign-in, and gets a session with it', async () => {
    const member = await identity.createMember(boss);
    const { accessToken } = await identity.createToken(member.session);
    const saved = await require({ secondFactorRequired: true });
    expect([saved.status, saved.body]).toEqual([200, { message: 'Sign-in configuration saved', signIn: { codesEnabled: true, secondFactorRequired: true }, endedCount: 0 }]);
    // A setting that is left out stays.
    expect((await require({})).body.signIn.secondFactorRequired).toBe(true);
    // Sessions and tokens from before go on.
    expect([await readOwnStatus(identity, member.session), await readOwnStatus(identity, accessToken)]).toEqual([200, 200]);
    expect((await readState(identity, member.session)).isRequired).toBe(true);
    const answer = await beginLogin(identity, member);
    expect([answer.status, answer.body.error.code]).toEqual([401, 'SECOND_FACTOR_ENROLMENT_REQUIRED']);
    const challenge = challengeIn(answer);
    expect((await sendCode(identity, challenge, '123456')).body.error.code).toBe('SIGN_IN_EXPIRED');
    const { secret, enrolment } = (await post('/api/v1/auth/login/second-factor/totp', undefined, { challenge })).body as Record<string, string>;
    const app = phone.install(secret ?? '');
    const confirm = (code: string) => post('/api/v1/auth/login/second-factor/totp/confirm', undefined, { challenge, enrolment, code });
    expect((await confirm('000000')).body.error.code).toBe('SECOND_FACTOR_INVALID');
    const done = await confirm(app.code());
    expect([done.status, done.body.recoveryCodes.length, done.body.user.id]).toEqual([200, 10, member.id]);
    expect(await readOwnStatus(identity, done.body.accessToken as string)).toBe(200);
    expect((await confirm(app.nextCode())).body.error.code).toBe('SIGN_IN_EXPIRED');
    const next = await beginLogin(identity, member);
    expect(next.body.error.code).toBe('SECOND_FACTOR_REQUIRED');
  });

  test('a sign-in that began before the app was set up cannot set up another one', async () => {
    const member = await identity.createMember(boss).catch(() => undefined);
    expect(member).toBeUndefined();
    const email = `late-${Date.now()}@example.com`;
    await post('/api/v1/users', boss, { email, fullName: 'Late', password: admin.password });
    const credentials = { email, password: admin.password };
    const [first, second] = [await beginLogin(identity, credentials), await beginLogin(identity, credentials)].map(challengeIn);
    const begin = (challenge = '') => post('/api/v1/auth/login/second-factor/totp', undefined, { challenge });
    const [mine, theirs] = [await begin(first), await begin(second)].map(({ body }) => body as Record<string, string>);
    const confirm = (challenge: string | undefined, { secret = '', enrolment }: Record<string, string> = {}) =>
      post('/api/v1/auth/login/second-factor/totp/confirm', undefined, { challenge, enrolment, code: phone.install(secret).code() });
    // An enrolment belongs to its sign-in.
    expect((await confirm(second, mine)).body.error.code).toBe('ENROLMENT_EXPIRED');
    expect((await confirm(first, mine)).status).toBe(200);
    expect((await confirm(second, theirs)).body.error.code).toBe('SIGN_IN_EXPIRED');
    expect((await begin(second)).body.error.code).toBe('SIGN_IN_EXPIRED');
  });

  test('the last factor cannot be removed, and an administrator ends the sessions that were opened without one', async () => {
    const { rows } = await identity.db.query('select user_id from totp_factors join users on users.id = user_id where users.org_id = (select org_id from users where email = $1)', [owner.email]);
    expect(rows).toHaveLength(2);
    const { app } = await enrol(identity, phone, boss);
    expect((await post(`${OWN}/totp/disable`, boss, { code: app.nextCode() })).body.error.code).toBe('LAST_SECOND_FACTOR');
    expect((await readState(identity, boss)).recoveryCodesLeft).toBe(10);
    await require({ secondFactorRequired: false });
    const plain = await identity.createMember(boss);
    expect((await require({ secondFactorRequired: false, endSessions: true })).status).toBe(400);
    const saved = await require({ secondFactorRequired: true, endSessions: true });
    // The other one is of a member who has set an app up since, elsewhere.
    expect(saved.body.endedCount).toBe(2);
    expect([await readOwnStatus(identity, plain.session), await readOwnStatus(identity, boss), await readOwnStatus(identity, session)]).toEqual([401, 200, 200]);
  });

  test('sessions of sign-ins that were under way end too', async () => {
    await require({ secondFactorRequired: false });
    const member = await identity.createMember(boss);
    const blocker = await identity.db.connect();
    try {
      await blocker.query('begin; lock table sessions in share mode');
      // It has read that no second factor is required, and cannot commit its session yet.
      const login = beginLogin(identity, member);
      await waitForLockWaiters(identity.db, 1);
      const saved = require({ secondFactorRequired: true, endSessions: true });
      await waitForLockWaiters(identity.db, 2);
      await blocker.query('rollback');
      expect((await saved).body.endedCount).toBe(2);
      const { status, body } = await login;
      expect([status, await readOwnStatus(identity, body.accessToken as string), await readOwnStatus(identity, member.session)]).toEqual([200, 401, 401]);
    } finally {
      blocker.release(true);
    }
  });
}); // oxfmt-ignore
