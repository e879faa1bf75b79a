import { createHttpBrowser } from '../browser.js';
import { startIdentity } from '../identity.js';
import { startReplica } from '../replica.js';
import {
  beginChallenge,
  createPhone,
  enrol,
  readOwnStatus,
  sendCode,
} from './second-factor/authenticator.js';
import {
  addPasskey,
  askPasskey,
  beginPasskey,
  confirmPasskey,
  createPasskey,
  prove,
  removePasskey,
  sendPasskey,
} from './second-factor/passkey.js';

const OWN = '/api/v1/auth/second-factor';
const ME = '/api/v1/users/me';
const SESSIONS = '/api/v1/sessions';

const identity = await startIdentity();
const replica = await startReplica(identity.databaseUrl);
const session = await identity.login();
const phone = createPhone({
  advance(milliseconds) {
    identity.advance(milliseconds);
    replica.advance(milliseconds);
  },
});
afterAll(async () => {
  await replica.close();
  await identity.close();
});

const sites = () => [identity, replica];
const statusesOf = (answers: readonly { status: number }[]) =>
  answers.map(({ status }) => status).toSorted((a, b) => a - b);

/** The same browser at two replicas: they share its cookies. */
function openBrowsers() {
  const first = createHttpBrowser(identity.url);
  const second = createHttpBrowser(replica.url);
  const share = () => {
    second.cookies.clear();
    for (const [name, value] of first.cookies) second.cookies.set(name, value);
  };
  return { first, second, share };
}

test('AUTH-20 a session that one replica ends is refused by the other at once, even with requests in flight', async () => {
  const { first, second, share } = openBrowsers();
  const member = await identity.createMember(session);
  await first.signIn(member);
  share();
  const ended = new AbortController();
  let acceptedLate = 0;
  const ask = async () => {
    while (!ended.signal.aborted) await second.call('GET', ME);
    for (let round = 0; round < 5; round += 1)
      if ((await second.call('GET', ME)).status !== 401) acceptedLate += 1;
  };
  const asking = Array.from({ length: 8 }, ask);
  expect((await second.call('GET', ME)).status).toBe(200);
  const [current] = (await first.call('GET', SESSIONS)).body.sessions as { id: string }[];
  expect((await first.call('DELETE', `${SESSIONS}/${current?.id}`)).status).toBe(200);
  ended.abort();
  await Promise.all(asking);
  expect(acceptedLate).toBe(0);
});

test('AUTH-21 a browser that signs in at two replicas concurrently keeps one session and lists the other', async () => {
  const { first, second, share } = openBrowsers();
  const member = await identity.createMember(session);
  await first.open('/sign-in');
  share();
  const answers = await Promise.all([first.signIn(member), second.signIn(member)]);
  expect(answers.map(({ status }) => status)).toEqual([303, 303]);
  share();
  expect([(await first.call('GET', ME)).status, (await second.call('GET', ME)).status]).toEqual([200, 200]);
  expect((await first.call('DELETE', SESSIONS)).body.endedCount).toBeGreaterThanOrEqual(1);
  expect((await first.call('GET', SESSIONS)).body.sessions).toHaveLength(1);
});

test('AUTH-25 when two replicas end the same session concurrently, one responds with 200 and one with 404', async () => {
  const [kept, ended] = [await identity.login(), await identity.login()];
  const { sessions } = (await identity.call('GET', SESSIONS, { token: ended })).body as {
    sessions: { id: string; current: boolean }[];
  };
  const path = `${SESSIONS}/${sessions.find(({ current }) => current)?.id}`;
  const answers = await Promise.all(sites().map((site) => site.call('DELETE', path, { token: kept })));
  expect(statusesOf(answers)).toEqual([200, 404]);
});

/** Gives the organisation 2,000 open sessions of a hundred members, and one of a member who signs in now. */
async function openManySessions(firstFactor: 'password' | 'provider') {
  const boss = await identity.createOrganisation(`boss@${firstFactor}.example`);
  const member = await identity.createMember(boss.session);
  const { db } = identity;
  await db.query(
    `insert into users (id, org_id, email, full_name, role, password_hash, created_at)
     select gen_random_uuid(), $1, n || '@' || $2 || '.example', 'Many', 'member', 'x', now() from generate_series(1, 100) n`,
    [boss.orgId, firstFactor],
  );
  await db.query(
    `insert into sessions (id, org_id, user_id, token_hash, created_at, expires_at, first_factor, provider_generation, single_factor_generation)
     select gen_random_uuid(), org_id, id, gen_random_uuid()::text, now(), now() + interval '1 day', $2,
            case when $2 = 'provider' then 0 end, 0
     from users, generate_series(1, 20) where org_id = $1 and full_name = 'Many'`,
    [boss.orgId, firstFactor],
  );
  const status = (token: string) => Promise.all(sites().map((site) => readOwnStatus(site, token)));
  return { boss, member, status };
}

test('AUTH-51 thousands of sessions without a second factor end at once, but for that of the caller', async () => {
  const { boss, member, status } = await openManySessions('password');
  const body = { codesEnabled: true, secondFactorRequired: true, endSessions: true };
  const path = '/api/v1/configurationManager/signInConfig';
  const saved = await identity.call('POST', path, { token: boss.session, body });
  expect([saved.status, saved.body.endedCount]).toEqual([200, 2_001]);
  expect([await status(member.session), await status(boss.session)]).toEqual([[401, 401], [200, 200]]);
  const again = await identity.call('POST', path, { token: boss.session, body });
  expect([again.status, again.body.endedCount, await status(boss.session)]).toEqual([200, 0, [200, 200]]);
}); // oxfmt-ignore

test('IDP-4 thousands of sessions and connections of a provider end at once with it', async () => {
  const { boss, member, status } = await openManySessions('provider');
  const { db } = identity;
  await db.query(
    `insert into identity_providers (org_id, issuer, client_id, scopes, second_factor_values, is_just_in_time, is_required, revision, created_at, updated_at)
     values ($1, 'https://sso.example', 'c', '{}', '{}', false, false, gen_random_uuid(), now(), now())`,
    [boss.orgId],
  );
  await db.query(
    `insert into provider_links (user_id, org_id, issuer, subject, created_at)
     select id, org_id, 'https://sso.example', id::text, now() from users where org_id = $1 and full_name = 'Many'`,
    [boss.orgId],
  );
  const removed = await identity.call('DELETE', '/api/v1/organisation/identity-provider', { token: boss.session });
  expect([removed.status, removed.body.endedCount]).toEqual([200, 2_000]);
  expect([await status(member.session), await status(boss.session)]).toEqual([[200, 200], [200, 200]]);
}); // oxfmt-ignore

async function createEnrolled() {
  const member = await identity.createMember(session);
  return { member, ...(await enrol(identity, phone, member.session)) };
}

test('AUTH-46 of one code at two replicas at the same time, for two sign-ins, one opens a session', async () => {
  const { member, app } = await createEnrolled();
  for (let round = 0; round < 3; round += 1) {
    const challenges = [await beginChallenge(identity, member), await beginChallenge(identity, member)];
    const code = app.nextCode();
    const answers = await Promise.all(
      sites().map((site, index) => sendCode(site, challenges[index] ?? '', code)),
    );
    expect(statusesOf(answers)).toEqual([200, 401]);
  }
});

test('AUTH-45 of one challenge at two replicas at the same time, one opens a session and the other uses no recovery code up', async () => {
  const { member, recoveryCodes } = await createEnrolled();
  const challenge = await beginChallenge(identity, member);
  const answers = await Promise.all(
    sites().map((site, index) => sendCode(site, challenge, recoveryCodes[index] ?? '')),
  );
  expect(statusesOf(answers)).toEqual([200, 401]);
  expect(
    (await identity.db.query('select 1 from recovery_codes where user_id = $1', [member.id])).rowCount,
  ).toBe(9);
});

test('AUTH-29 of one recovery code at two replicas at the same time, one opens a session', async () => {
  const { member, recoveryCodes } = await createEnrolled();
  const challenges = [await beginChallenge(identity, member), await beginChallenge(identity, member)];
  const answers = await Promise.all(
    sites().map((site, index) => sendCode(site, challenges[index] ?? '', recoveryCodes[0] ?? '')),
  );
  expect(statusesOf(answers)).toEqual([200, 401]);
});

test('AUTH-30 wrong codes at two replicas at the same time are all counted', async () => {
  const { member } = await createEnrolled();
  const challenge = await beginChallenge(identity, member);
  const guesses = Array.from({ length: 8 }, (_, index) =>
    sendCode(sites()[index % 2] ?? identity, challenge, '000000'),
  );
  expect(statusesOf(await Promise.all(guesses))).toEqual(Array.from({ length: 8 }, () => 401));
  expect(
    (await identity.db.query('select wrong_codes from totp_factors where user_id = $1', [member.id])).rows,
  ).toEqual([{ wrong_codes: 8 }]);
});

test('AUTH-50 of a removal and a set-up at the same time, the account has the factor and its codes, or neither', async () => {
  const { member, app } = await createEnrolled();
  const proof = (code: string) => ({ code });
  const body = proof(app.nextCode());
  const { secret, enrolment } = (await identity.call('POST', `${OWN}/totp`, { token: member.session, body }))
    .body as Record<string, string>;
  const removal = proof(app.nextCode());
  const code = phone.install(secret ?? '').code();
  await Promise.all([
    identity.call('POST', `${OWN}/totp/disable`, { token: member.session, body: removal }),
    replica.call('POST', `${OWN}/totp/confirm`, { token: member.session, body: { enrolment, code } }),
  ]);
  const { secondFactor } = (await identity.call('GET', OWN, { token: member.session })).body;
  expect(secondFactor.totp === null ? 0 : 10).toBe(secondFactor.recoveryCodesLeft);
});

test('AUTH-32 of a reset and a sign-in at the same time, no session is left that the reset did not end', async () => {
  for (let round = 0; round < 3; round += 1) {
    const { member, app } = await createEnrolled();
    const challenge = await beginChallenge(identity, member);
    const code = app.nextCode();
    const [signedIn, reset] = await Promise.all([
      sendCode(identity, challenge, code),
      replica.call('DELETE', `/api/v1/users/${member.id}/second-factor`, { token: session }),
    ]);
    expect(reset.status).toBe(200);
    // Either the sign-in came first, and its session was ended, or it found no second factor any more.
    const token = signedIn.status === 200 ? (signedIn.body.accessToken as string) : 'none';
    expect((await identity.call('GET', '/api/v1/users/me', { token })).status).toBe(401);
  }
}); // oxfmt-ignore

test('AUTH-37 a challenge of one replica is answered at another, and of two answers at the same time one opens a session', async () => {
  const member = await identity.createMember(session);
  const { passkey } = await addPasskey(identity, member.session);
  for (let round = 0; round < 3; round += 1) {
    const challenge = await beginChallenge(identity, member);
    const options = (await askPasskey(identity, challenge)).body as { challenge: string };
    const assertion = passkey.use(options);
    const answers = await Promise.all(sites().map((site) => sendPasskey(site, challenge, assertion)));
    expect(statusesOf(answers)).toEqual([200, 401]);
  }
});

test('AUTH-37 of one set-up at two replicas at the same time, one adds the passkey', async () => {
  const member = await identity.createMember(session);
  const { body } = await beginPasskey(identity, member.session);
  const registration = createPasskey().register(body as { challenge: string });
  const answers = await Promise.all(
    sites().map((site) => confirmPasskey(site, member.session, { registration })),
  );
  expect(statusesOf(answers)).toEqual([200, 400]);
});

test('AUTH-39 of a removal and a sign-in with the passkey at the same time, the account has a factor and its codes, or neither', async () => {
  for (let round = 0; round < 3; round += 1) {
    const member = await identity.createMember(session);
    const { passkey } = await addPasskey(identity, member.session);
    const [{ id }] = (await identity.call('GET', OWN, { token: member.session })).body.secondFactor.passkeys as [{ id: string }];
    const challenge = await beginChallenge(identity, member);
    const assertion = passkey.use((await askPasskey(identity, challenge)).body as { challenge: string });
    const proof = await prove(identity, member.session, passkey);
    const [signedIn, removed] = await Promise.all([
      sendPasskey(replica, challenge, assertion),
      removePasskey(identity, member, id, proof),
    ]);
    // The counter of the proof is the higher one. Where it was seen first, the sign-in came too late.
    expect(removed.status).toBe(200);
    expect([200, 401]).toContain(signedIn.status);
    const { secondFactor } = (await identity.call('GET', OWN, { token: member.session })).body;
    expect(secondFactor).toMatchObject({ passkeys: [], recoveryCodesLeft: 0 });
  }
}); // oxfmt-ignore
