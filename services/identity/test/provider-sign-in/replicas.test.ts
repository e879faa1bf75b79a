import { createHttpBrowser } from '../browser.js';
import { type IdentityUnderTest, startIdentity } from '../identity.js';
import { startReplica } from '../replica.js';
import {
  beginSignIn,
  comeBack,
  environment,
  REDIRECT_URI,
  saveProvider,
  signIn,
  verifyDomain,
  whoIs,
} from './flow.js';
import { type ForeignProvider, startForeignProvider } from './foreign-provider.js';

let foreign: ForeignProvider;
let identity: IdentityUnderTest;
let replica: Awaited<ReturnType<typeof startReplica>>;
let session: string;
let people = 0;

beforeAll(async () => {
  foreign = await startForeignProvider(REDIRECT_URI);
  identity = await startIdentity({ environment });
  replica = await startReplica(identity.databaseUrl, environment);
  session = await identity.login();
  await verifyDomain(identity.databaseUrl, identity.orgId, 'example.com');
  await saveProvider(identity, session, { issuer: foreign.issuer, justInTimeMembership: true });
});
afterAll(async () => {
  await replica?.close();
  await identity?.close();
  await foreign?.close();
});

function createPerson() {
  const subject = `subject-${++people}`;
  const email = `${subject}@example.com`;
  foreign.people.set(subject, { email, email_verified: true });
  return { subject, email };
}

/** Brings a person as far as the provider's answer. @returns how the browser comes back, to either replica. */
async function goToProvider({ subject, email }: { subject: string; email: string }) {
  const browser = createHttpBrowser(identity.url);
  const { url } = await beginSignIn(browser, email);
  foreign.signsIn = { subject };
  const back = await foreign.authorize(url);
  return (at: string) => {
    const there = createHttpBrowser(at);
    for (const [name, value] of browser.cookies) there.cookies.set(name, value);
    return comeBack(there, back).then(async (answer) => ({
      status: answer.status,
      user: await whoIs(there),
    }));
  };
}

test('IDP-5 a sign-in that began at one replica is completed by the other', async () => {
  const person = createPerson();
  const comeBackAt = await goToProvider(person);
  expect(await comeBackAt(replica.url)).toMatchObject({ status: 303, user: { email: person.email } });
  expect(await comeBackAt(identity.url)).toMatchObject({ status: 400 });
});

test('IDP-5 of one answer at two replicas at once, one opens a session', async () => {
  for (let round = 0; round < 3; round += 1) {
    const comeBackAt = await goToProvider(createPerson());
    const answers = await Promise.all([identity.url, replica.url].map(comeBackAt));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([303, 400]);
  }
});

test('IDP-7 two first sign-ins of one person at once make one member', async () => {
  for (let round = 0; round < 3; round += 1) {
    const person = createPerson();
    const both = [await goToProvider(person), await goToProvider(person)];
    const answers = await Promise.all(
      both.map((comeBackAt, index) => comeBackAt(index === 0 ? identity.url : replica.url)),
    );
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    expect(answers[0]?.user?.id).toBe(answers[1]?.user?.id);
    const { rows } = await identity.db.query('select 1 from users where email = $1', [person.email]);
    expect(rows.length).toBe(1);
  }
});

test('IDP-7 first sign-ins and changes of the sign-in settings at once do not fail', async () => {
  const comingBack = [];
  for (let count = 0; count < 6; count += 1) comingBack.push(await goToProvider(createPerson()));
  const save = (codesEnabled: boolean) =>
    identity.call('POST', '/api/v1/configurationManager/signInConfig', {
      token: session,
      body: { codesEnabled },
    });
  const [saved, came] = await Promise.all([
    Promise.all([false, true, false, true].map(save)),
    Promise.all(comingBack.map((comeBackAt) => comeBackAt(replica.url))),
  ]);
  expect(saved.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(came.map(({ status }) => status)).toEqual([303, 303, 303, 303, 303, 303]);
});

test('IDP-6 of two subjects with one address at once, one gets the account', async () => {
  for (let round = 0; round < 3; round += 1) {
    const person = createPerson();
    const other = { ...createPerson(), email: person.email };
    foreign.people.set(other.subject, { email: person.email, email_verified: true });
    const both = [await goToProvider(person), await goToProvider(other)];
    const answers = await Promise.all(
      both.map((comeBackAt, index) => comeBackAt(index === 0 ? identity.url : replica.url)),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([303, 403]);
  }
});

test('IDP-7 somebody who comes back after just-in-time membership was switched off does not get in', async () => {
  const comeBackAt = await goToProvider(createPerson());
  await saveProvider(replica, session, { issuer: foreign.issuer });
  expect((await comeBackAt(identity.url)).status).toBe(400);
  expect((await signIn(replica.url, foreign, createPerson())).answer.status).toBe(403);
  await saveProvider(identity, session, { issuer: foreign.issuer, justInTimeMembership: true });
  // One of both comes first: no member is made after the change has been answered.
  const person = createPerson();
  const racing = await goToProvider(person);
  const [came] = await Promise.all([
    racing(identity.url),
    saveProvider(replica, session, { issuer: foreign.issuer }),
  ]);
  const { rows } = await identity.db.query('select 1 from users where email = $1', [person.email]);
  expect(rows.length).toBe(came.status === 303 ? 1 : 0);
});

test('IDP-6 a member who is removed while they come back is not signed in', async () => {
  await saveProvider(identity, session, { issuer: foreign.issuer, justInTimeMembership: true });
  for (let round = 0; round < 3; round += 1) {
    const member = await identity.createMember(session);
    const subject = `removed-${round}`;
    foreign.people.set(subject, { email: member.email, email_verified: true });
    const comeBackAt = await goToProvider({ subject, email: member.email });
    const [came] = await Promise.all([
      comeBackAt(replica.url),
      identity.call('DELETE', `/api/v1/users/${member.id}`, { token: session }),
    ]);
    const { rows } = await identity.db.query('select 1 from users where email = $1 and removed_at is null', [
      member.email,
    ]);
    expect([rows, [303, 403].includes(came.status)]).toEqual([[], true]);
  }
});
