import { createHttpBrowser } from '../../browser.js';
import { beginSignIn, comeBack, signIn, whoIs } from './flow.js';
import { useProvider } from './use-provider.js';

const provider = useProvider({
  // No mail service answers there: mails wait.
  MAIL_URL: 'http://127.0.0.1:9',
});
const OWN = '/api/v1/auth/identity-provider';

beforeEach(async () => {
  await provider.save();
});

const call = (method: string, path: string, token: string) => provider.identity.call(method, path, { token });
const signInAs = (person: { subject: string; email: string }) =>
  signIn(provider.identity.url, provider.foreign, person);

async function noticesTo(userId: string) {
  const { rows } = await provider.identity.db.query<{ notice: string }>(
    "select detail ->> 'notice' as notice from outgoing_mails where kind = 'token_alert' and user_id = $1 order by id",
    [userId],
  );
  return rows.map(({ notice }) => notice);
}

test('IDP-10 a member disconnects their account, and the next sign-in connects it again', async () => {
  const member = await provider.createMember();
  expect((await call('GET', OWN, member.session)).body).toEqual({ connection: null, isRequired: false });
  const [first, other] = [await signInAs(member), await signInAs(member)];
  const { body } = await first.browser.call('GET', OWN);
  expect(body).toEqual({
    connection: { issuer: provider.foreign.issuer, connectedAt: expect.any(String) as string },
    isRequired: false,
  });

  const disconnect = () => first.browser.call('DELETE', OWN);
  expect((await disconnect()).status).toBe(200);
  expect(((await disconnect()).body as { error: { code: string } }).error.code).toBe('NOT_LINKED');
  expect((await first.browser.call('GET', OWN)).body).toMatchObject({ connection: null });
  // The session of the request goes on, the other one that the provider opened has ended.
  expect(await whoIs(other.browser)).toBeUndefined();
  expect((await call('GET', '/api/v1/users/me', member.session)).status).toBe(200);
  expect(await noticesTo(member.id)).toEqual(['providerLinked', 'providerUnlinkedByOwner']);
  expect(await whoIs((await signInAs(member)).browser)).toMatchObject({ id: member.id });
});

test('IDP-10 a member who never chose a password can come back, and one who has to use the provider stays connected', async () => {
  await provider.save({ justInTimeMembership: true });
  const person = provider.createPerson();
  const { browser } = await signInAs(person);
  expect((await browser.call('DELETE', OWN)).status).toBe(200);
  expect(await whoIs((await signInAs(person)).browser)).toEqual(await whoIs(browser));

  const member = await provider.createMember();
  await signInAs(member);
  await provider.identity.db.query('update identity_providers set is_required = true');
  const refused = await call('DELETE', OWN, member.session);
  expect([refused.status, refused.body.error.code]).toEqual([409, 'PROVIDER_REQUIRED']);
  expect((await call('GET', OWN, member.session)).body).toMatchObject({ isRequired: true });
});

test('IDP-10 a token neither sees nor ends the connection', async () => {
  const member = await provider.createMember();
  const { accessToken } = await provider.identity.createToken(member.session);
  expect((await call('GET', OWN, accessToken)).status).toBe(403);
  expect((await call('DELETE', OWN, accessToken)).status).toBe(403);
  expect((await provider.identity.call('GET', OWN)).status).toBe(401);
});

test('IDP-6 an administrator sees who is connected, and disconnects members of the own organisation only', async () => {
  const member = await provider.createMember();
  await signInAs(member);
  const isConnected = async () =>
    ((await call('GET', '/api/v1/users?limit=100', provider.session)).body.data as { id: string }[]).find(
      ({ id }) => id === member.id,
    );
  expect(await isConnected()).toMatchObject({ hasProviderIdentity: true });
  const path = `/api/v1/users/${member.id}/identity-provider`;
  const foreign = await provider.identity.createOrganisation(`boss@${member.id}.example`);
  expect((await call('DELETE', path, foreign.session)).status).toBe(404);
  expect((await call('DELETE', path, member.session)).status).toBe(403);
  expect((await call('DELETE', path, provider.session)).status).toBe(200);
  expect((await call('DELETE', path, provider.session)).body.error.code).toBe('NOT_LINKED');
  expect(await isConnected()).toMatchObject({ hasProviderIdentity: false });
});

test('IDP-6 a subject that is disconnected while it comes back is not signed in by the old connection', async () => {
  const { identity, foreign } = provider;
  const member = await provider.createMember();
  await signInAs(member);
  // The subject has another address by now, which no member has.
  foreign.people.set(member.subject, { email: 'renamed@example.com', email_verified: true });
  const browser = createHttpBrowser(identity.url);
  const { url } = await beginSignIn(browser, member.email);
  foreign.signsIn = { subject: member.subject };
  const back = await foreign.authorize(url);
  const admin = await identity.db.connect();
  try {
    await admin.query('begin');
    await admin.query('select 1 from users where id = $1 for no key update', [member.id]);
    const coming = comeBack(browser, back);
    const isWaiting = async () =>
      (
        await identity.db.query(
          "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        )
      ).rows.length;
    while ((await isWaiting()) === 0) await new Promise((resolve) => setImmediate(resolve));
    await admin.query('delete from provider_links where user_id = $1', [member.id]);
    await admin.query('commit');
    expect((await coming).status).toBe(403);
  } finally {
    admin.release();
  }
  expect(await whoIs(browser)).toBeUndefined();
});
