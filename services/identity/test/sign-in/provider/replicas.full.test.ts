import { createHttpBrowser } from '../../browser.js';
import { startReplica } from '../../replica.js';
import { beginSignIn, comeBack, environment, saveProvider, signIn, whoIs } from './flow.js';
import { useProvider } from './use-provider.js';

const provider = useProvider();
const { createPerson } = provider;
let replica: Awaited<ReturnType<typeof startReplica>>;

beforeAll(async () => {
  replica = await startReplica(provider.identity.databaseUrl, environment);
  await provider.save({ justInTimeMembership: true });
});
afterAll(() => replica?.close());

/** Brings a person as far as the provider's answer. @returns how the browser comes back, to either replica. */
async function goToProvider({ subject, email }: { subject: string; email: string }) {
  const browser = createHttpBrowser(provider.identity.url);
  const { url } = await beginSignIn(browser, email);
  provider.foreign.signsIn = { subject };
  const back = await provider.foreign.authorize(url);
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
  expect(await comeBackAt(provider.identity.url)).toMatchObject({ status: 400 });
});

test('IDP-5 of one answer at two replicas at once, one opens a session', async () => {
  for (let round = 0; round < 2; round += 1) {
    const comeBackAt = await goToProvider(createPerson());
    const answers = await Promise.all([provider.identity.url, replica.url].map(comeBackAt));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([303, 400]);
  }
});

test('IDP-7 two first sign-ins of one person at once make one member', async () => {
  for (let round = 0; round < 2; round += 1) {
    const person = createPerson();
    const both = [await goToProvider(person), await goToProvider(person)];
    const answers = await Promise.all(
      both.map((comeBackAt, index) => comeBackAt(index === 0 ? provider.identity.url : replica.url)),
    );
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    expect(answers[0]?.user?.id).toBe(answers[1]?.user?.id);
    const { rows } = await provider.identity.db.query('select 1 from users where email = $1', [person.email]);
    expect(rows.length).toBe(1);
  }
});

test('IDP-7 first sign-ins and changes of the sign-in settings at once do not fail', async () => {
  const comingBack = [];
  for (let count = 0; count < 6; count += 1) comingBack.push(await goToProvider(createPerson()));
  const save = (codesEnabled: boolean) =>
    provider.identity.call('POST', '/api/v1/configurationManager/signInConfig', {
      token: provider.session,
      body: { codesEnabled },
    });
  const [saved, came] = await Promise.all([
    Promise.all([false, true, false, true].map(save)),
    Promise.all(comingBack.map((comeBackAt) => comeBackAt(replica.url))),
  ]);
  expect(saved.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(came.map(({ status }) => status)).toEqual([303, 303, 303, 303, 303, 303]);
});

test('IDP-15 of two subjects with one address at once, one gets the account', async () => {
  for (let round = 0; round < 2; round += 1) {
    const person = createPerson();
    const other = { ...createPerson(), email: person.email };
    provider.foreign.people.set(other.subject, { email: person.email, email_verified: true });
    const both = [await goToProvider(person), await goToProvider(other)];
    const answers = await Promise.all(
      both.map((comeBackAt, index) => comeBackAt(index === 0 ? provider.identity.url : replica.url)),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([303, 403]);
  }
});

test('IDP-7 somebody who comes back after just-in-time membership was switched off does not get in', async () => {
  const comeBackAt = await goToProvider(createPerson());
  await saveProvider(replica, provider.session, { issuer: provider.foreign.issuer });
  expect((await comeBackAt(provider.identity.url)).status).toBe(400);
  expect((await signIn(replica.url, provider.foreign, createPerson())).answer.status).toBe(403);
  await provider.save({ justInTimeMembership: true });
  // One of both comes first: no member is made after the change has been answered.
  const person = createPerson();
  const racing = await goToProvider(person);
  const [came] = await Promise.all([
    racing(provider.identity.url),
    saveProvider(replica, provider.session, { issuer: provider.foreign.issuer }),
  ]);
  const { rows } = await provider.identity.db.query('select 1 from users where email = $1', [person.email]);
  expect(rows.length).toBe(came.status === 303 ? 1 : 0);
});

test('IDP-6 a member who is removed while they come back is not signed in', async () => {
  await provider.save({ justInTimeMembership: true });
  for (let round = 0; round < 2; round += 1) {
    const member = await provider.identity.createMember(provider.session);
    const subject = `removed-${round}`;
    provider.foreign.people.set(subject, { email: member.email, email_verified: true });
    const comeBackAt = await goToProvider({ subject, email: member.email });
    const [came] = await Promise.all([
      comeBackAt(replica.url),
      provider.identity.call('DELETE', `/api/v1/users/${member.id}`, { token: provider.session }),
    ]);
    const { rows } = await provider.identity.db.query(
      'select 1 from users where email = $1 and removed_at is null',
      [member.email],
    );
    expect([rows, [303, 403].includes(came.status)]).toEqual([[], true]);
  }
});
