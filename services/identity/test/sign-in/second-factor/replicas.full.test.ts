import { startIdentity } from '../../identity.js';
import { startReplica } from '../../replica.js';
import { beginChallenge, createPhone, enrol, sendCode } from './authenticator.js';
import {
  addPasskey,
  askPasskey,
  beginPasskey,
  confirmPasskey,
  createPasskey,
  prove,
  removePasskey,
  sendPasskey,
} from './passkey.js';

const OWN = '/api/v1/auth/second-factor';

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

async function createEnrolled() {
  const member = await identity.createMember(session);
  return { member, ...(await enrol(identity, phone, member.session)) };
}

test('AUTH-28 of one code at two replicas at the same time, for two sign-ins, one opens a session', async () => {
  const { member, app } = await createEnrolled();
  for (let round = 0; round < 5; round += 1) {
    const challenges = [await beginChallenge(identity, member), await beginChallenge(identity, member)];
    const code = app.nextCode();
    const answers = await Promise.all(
      sites().map((site, index) => sendCode(site, challenges[index] ?? '', code)),
    );
    expect(statusesOf(answers)).toEqual([200, 401]);
  }
});

test('AUTH-28 of one challenge at two replicas at the same time, one opens a session and the other uses no recovery code up', async () => {
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

test('AUTH-31 of a removal and a set-up at the same time, the account has the factor and its codes, or neither', async () => {
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
}); // prettier-ignore

test('AUTH-37 a challenge of one replica is answered at another, and of two answers at the same time one opens a session', async () => {
  const member = await identity.createMember(session);
  const { passkey } = await addPasskey(identity, member.session);
  for (let round = 0; round < 5; round += 1) {
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
}); // prettier-ignore
