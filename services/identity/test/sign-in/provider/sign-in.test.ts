import { createHttpBrowser } from '../../browser.js';
import { waitForLockWaiters } from '../../lock-waiters.js';
import { beginSignIn, comeBack, CALLBACK_URL, signIn, whoIs } from './flow.js';
import { client } from './foreign-provider.js';
import { useProvider } from './use-provider.js';

const provider = useProvider({
  // No mail service answers there: mails wait.
  MAIL_URL: 'http://127.0.0.1:9',
});
const OWN = '/api/v1/auth/identity-provider';
const { createMember, createPerson } = provider;

beforeEach(async () => {
  await provider.save();
});

const audited = async (action: string, subjectId: string) =>
  (
    await provider.identity.db.query<{ reason: string | null; detail: Record<string, string> }>(
      'select reason, detail from audit_entries where action = $1 and subject_id = $2 order by id desc',
      [action, subjectId],
    )
  ).rows;

async function isConnected(userId: string): Promise<boolean | undefined> {
  const { body } = await call('GET', '/api/v1/users?limit=100', provider.session);
  const members = body.data as { id: string; hasProviderIdentity: boolean }[];
  return members.find(({ id }) => id === userId)?.hasProviderIdentity;
}

test('IDP-5 a member signs in with the provider, and goes on where they were going', async () => {
  const member = await createMember();
  const { browser, answer } = await signIn(provider.identity.url, provider.foreign, member, '/tokens?page=2');
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/tokens?page=2']);
  expect(await whoIs(browser)).toMatchObject({ id: member.id, role: 'member' });
  expect([...browser.cookies.keys()].toSorted()).toEqual([
    'platform_browser',
    'platform_csrf',
    'platform_session',
  ]);
  const [linked] = await audited('identity_provider.linked', member.id);
  expect(linked?.detail).toMatchObject({ issuer: provider.foreign.issuer, subject: member.subject });
  const opened = await provider.identity.db.query<{ detail: object; first_factor: string }>(
    `select detail, first_factor from sessions join audit_entries on subject_id = sessions.id
     where user_id = $1 and action = 'session.created' order by sessions.id desc limit 1`,
    [member.id],
  );
  expect(opened.rows).toEqual([{ detail: { method: 'provider' }, first_factor: 'provider' }]);
});

test('IDP-5 the request to the provider is bound to the browser, and contains what the standards ask for', async () => {
  const browser = createHttpBrowser(provider.identity.url);
  const { page, url } = await beginSignIn(browser, createPerson().email);
  expect(page.text).toContain(`You sign in at <strong>${new URL(provider.foreign.issuer).host}</strong>`);
  expect(page.headers.get('content-security-policy')).not.toContain('script-src');
  const query = Object.fromEntries(new URL(url).searchParams);
  expect(query).toEqual({
    client_id: client.clientId,
    redirect_uri: `${CALLBACK_URL}/${provider.identity.orgId}`,
    response_type: 'code',
    max_age: '31536000',
    scope: 'openid email profile',
    state: expect.stringMatching(/^[\w-]{43}$/) as string,
    nonce: expect.stringMatching(/^[\w-]{43}$/) as string,
    code_challenge: expect.stringMatching(/^[\w-]{43}$/) as string,
    code_challenge_method: 'S256',
    login_hint: expect.stringContaining('@example.com') as string,
  });
  const [cookie] = page.headers.getSetCookie().filter((line) => line.startsWith('platform_provider'));
  expect(cookie).toMatch(/^platform_provider=[\w-]{43}; Max-Age=600; Path=\/; SameSite=Lax; HttpOnly$/);
  const { rows } = await provider.identity.db.query<object>(
    'select * from provider_sign_ins order by created_at desc limit 1',
  );
  const stored = JSON.stringify(rows);
  for (const secret of [query['state'], query['nonce'], browser.cookies.get('platform_provider')])
    expect(stored).not.toContain(secret);
});

test('IDP-6 the second sign-in goes by the subject, also after the address has changed', async () => {
  const member = await createMember();
  await signIn(provider.identity.url, provider.foreign, member);
  provider.foreign.people.set(member.subject, { email: 'renamed@example.com', email_verified: true });
  const { browser } = await signIn(provider.identity.url, provider.foreign, member);
  expect(await whoIs(browser)).toMatchObject({ id: member.id, email: member.email });
});

test('IDP-15 an account belongs to one subject until an administrator disconnects it', async () => {
  const member = await createMember();
  await signIn(provider.identity.url, provider.foreign, member);
  const other = createPerson({ email: member.email });
  const refused = await signIn(provider.identity.url, provider.foreign, { ...other, email: member.email });
  expect([refused.answer.status, refused.answer.text]).toEqual([
    403,
    expect.stringContaining('another identity'),
  ]);
  expect(await whoIs(refused.browser)).toBeUndefined();

  const path = `/api/v1/users/${member.id}/identity-provider`;
  const foreign = await provider.identity.createOrganisation(`boss@${member.id}.example`);
  expect((await call('DELETE', path, foreign.session)).status).toBe(404);
  expect(await isConnected(member.id)).toBe(true);
  expect((await call('DELETE', path, provider.session)).status).toBe(200);
  expect((await call('DELETE', path, provider.session)).body.error.code).toBe('NOT_LINKED');
  expect(await isConnected(member.id)).toBe(false);
  const { browser } = await signIn(provider.identity.url, provider.foreign, {
    ...other,
    email: member.email,
  });
  expect(await whoIs(browser)).toMatchObject({ id: member.id });
});

test('IDP-7 somebody who is no member gets in only where the organisation wants it, as a member', async () => {
  const person = createPerson();
  const refused = await signIn(provider.identity.url, provider.foreign, person);
  expect([refused.answer.status, refused.answer.text]).toEqual([
    403,
    expect.stringContaining('not a member'),
  ]);
  const [entry] = await audited('identity_provider.refused', provider.identity.orgId);
  expect(entry).toEqual({ reason: 'not_a_member', detail: { email: person.email } });

  await provider.save({ justInTimeMembership: true });
  const { browser } = await signIn(provider.identity.url, provider.foreign, person);
  const user = await whoIs(browser);
  expect(user).toMatchObject({ email: person.email, fullName: 'Grace Hopper', role: 'member' });
  expect(await audited('user.created', user?.id ?? '')).toMatchObject([{ reason: 'provider' }]);
  // They count as members: no invitation lapses, and no password works.
  await provider.identity.sweep();
  expect(await whoIs((await signIn(provider.identity.url, provider.foreign, person)).browser)).toMatchObject({
    id: user?.id,
  });
});

test('IDP-7 an invitee who signs in has accepted the invitation, and its link ends', async () => {
  const { subject, email } = createPerson();
  await provider.identity.db.query(
    `insert into users (id, org_id, email, full_name, role, created_at) values (gen_random_uuid(), $1, $2, 'Ada', 'admin', now())`,
    [provider.identity.orgId, email],
  );
  const { browser } = await signIn(provider.identity.url, provider.foreign, { subject, email });
  expect(await whoIs(browser)).toMatchObject({ email, role: 'admin' });
  const { rows } = await provider.identity.db.query('select 1 from one_time_secrets where subject = $1', [
    email,
  ]);
  expect(rows).toEqual([]);
});

test('IDP-6 a removed member does not come back by themselves, but by an invitation', async () => {
  await provider.save({ justInTimeMembership: true });
  for (const hadSignedIn of [true, false]) {
    const member = await createMember();
    if (hadSignedIn) await signIn(provider.identity.url, provider.foreign, member);
    expect(
      (await provider.identity.call('DELETE', `/api/v1/users/${member.id}`, { token: provider.session }))
        .status,
    ).toBe(200);
    const refused = await signIn(provider.identity.url, provider.foreign, member);
    expect([refused.answer.status, refused.answer.text]).toEqual([
      403,
      expect.stringContaining('no longer a member'),
    ]);
    const again = await provider.identity.call('POST', '/api/v1/users', {
      token: provider.session,
      body: { email: member.email, fullName: 'Ada Again', password: 'correct-horse-battery' },
    });
    const { browser } = await signIn(provider.identity.url, provider.foreign, member);
    expect(await whoIs(browser)).toMatchObject({ id: again.body.user.id });
  }
});

test.each([
  ['the address is not verified', { email_verified: false }, 'does not vouch'],
  ['nothing is said about the address', { email_verified: undefined }, 'does not vouch'],
  ['it is verified in words', { email_verified: 'true' }, 'does not vouch'],
  ['there is no address', { email: undefined }, 'does not vouch'],
  ['the address is of another domain', { email: 'ada@other.example' }, 'outside the verified domains'],
  ['the address is of a subdomain', { email: 'ada@sub.example.com' }, 'outside the verified domains'],
  [
    'the address hides another domain',
    { email: 'ada@other.example@example.com.evil.example' },
    'does not vouch',
  ],
])('IDP-6 nobody is signed in when %s', async (_case, claims, message) => {
  await provider.save({ justInTimeMembership: true });
  const person = createPerson(claims);
  const { browser, answer } = await signIn(provider.identity.url, provider.foreign, person);
  expect([answer.status, answer.text]).toEqual([403, expect.stringContaining(message)]);
  expect(await whoIs(browser)).toBeUndefined();
});

test('IDP-6 a member of another organisation is not signed in, whatever the provider says', async () => {
  const other = await provider.identity.createOrganisation('boss@elsewhere.example');
  const created = await provider.identity.call('POST', '/api/v1/users', {
    token: other.session,
    body: { email: 'ada@elsewhere.example', fullName: 'Ada', password: 'correct-horse-battery' },
  });
  // Since before the domain was verified: nobody can create such a member any more.
  const member = { id: created.body.user.id as string, email: 'held@example.com' };
  await provider.identity.db.query('update users set email = $2 where id = $1', [member.id, member.email]);
  const { subject } = createPerson({ email: member.email });
  await provider.save({ justInTimeMembership: true });
  const { browser, answer } = await signIn(provider.identity.url, provider.foreign, {
    subject,
    email: member.email,
  });
  expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('cannot sign in here')]);
  expect(await whoIs(browser)).toBeUndefined();
});

test('IDP-5 the page says that an address has no provider, whether or not there is an account', async () => {
  await provider.identity.createOrganisation('known@plain.example');
  for (const email of ['known@plain.example', 'unknown@plain.example']) {
    const { page } = await beginSignIn(createHttpBrowser(provider.identity.url), email);
    expect([page.status, page.text]).toEqual([400, expect.stringContaining('No organisation has set up')]);
  }
  const pages = [];
  for (const { email } of [await createMember(), createPerson()])
    pages.push((await beginSignIn(createHttpBrowser(provider.identity.url), email)).page.status);
  expect(pages).toEqual([200, 200]);
});

test('IDP-14 a provider that refuses is named as such, and the sign-in begins again', async () => {
  const browser = createHttpBrowser(provider.identity.url);
  const { url } = await beginSignIn(browser, createPerson().email);
  const state = new URL(url).searchParams.get('state') ?? '';
  const query = new URLSearchParams({ error: 'access_denied', state, iss: provider.foreign.issuer });
  const answer = await comeBack(
    browser,
    new URL(`${CALLBACK_URL}/${provider.identity.orgId}?${query.toString()}`),
  );
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('did not succeed')]);
  expect(provider.identity.logged()).toContain('access_denied');
});

test('IDP-5 a client without a secret uses PKCE alone', async () => {
  const member = await createMember();
  const saved = await provider.save({ clientId: 'public', clientSecret: null });
  expect(saved.body.identityProvider).toMatchObject({ hasClientSecret: false });
  expect(await whoIs((await signIn(provider.identity.url, provider.foreign, member)).browser)).toMatchObject({
    id: member.id,
  });
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
  // The session of the request goes on; the other session, which the provider opened, has ended.
  expect(await whoIs(other.browser)).toBeUndefined();
  expect((await call('GET', '/api/v1/users/me', member.session)).status).toBe(200);
  expect(await noticesTo(member.id)).toEqual(['providerLinked', 'providerUnlinkedByOwner']);
  expect(await whoIs((await signInAs(member)).browser)).toMatchObject({ id: member.id });
});

test('IDP-10 a member who never chose a password can come back, and a member who has to use the provider stays connected', async () => {
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

test('IDP-15 a subject that is disconnected while it comes back is not signed in by the old connection', async () => {
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
    await waitForLockWaiters(identity.db);
    await admin.query('delete from provider_links where user_id = $1', [member.id]);
    await admin.query('commit');
    expect((await coming).status).toBe(403);
  } finally {
    admin.release();
  }
  expect(await whoIs(browser)).toBeUndefined();
});
