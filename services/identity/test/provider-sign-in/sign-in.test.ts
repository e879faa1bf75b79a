import { createHttpBrowser } from '../browser.js';
import { type IdentityUnderTest, startIdentity } from '../identity.js';
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
import { client, type ForeignProvider, startForeignProvider } from './foreign-provider.js';

let identity: IdentityUnderTest;
let foreign: ForeignProvider;
let session: string;
let people = 0;

beforeAll(async () => {
  foreign = await startForeignProvider(REDIRECT_URI);
  identity = await startIdentity({ environment });
  session = await identity.login();
  await verifyDomain(identity.databaseUrl, identity.orgId, 'example.com');
});
beforeEach(async () => {
  await saveProvider(identity, session, { issuer: foreign.issuer });
});
afterAll(async () => {
  await identity?.close();
  await foreign?.close();
});

/** Somebody whom the provider knows. */
function createPerson(claims: object = {}) {
  const subject = `subject-${++people}`;
  const email = `${subject}@example.com`;
  foreign.people.set(subject, { email, email_verified: true, name: 'Grace Hopper', ...claims });
  return { subject, email };
}

/** A member, and the same person at the provider. */
async function createMember(claims: object = {}) {
  const member = await identity.createMember(session);
  const { subject } = createPerson({ email: member.email, ...claims });
  return { ...member, subject };
}

const audited = async (action: string, subjectId: string) =>
  (
    await identity.db.query<{ reason: string | null; detail: Record<string, string> }>(
      'select reason, detail from audit_entries where action = $1 and subject_id = $2 order by id desc',
      [action, subjectId],
    )
  ).rows;

test('IDP-5 a member signs in with the provider, and goes on where they were going', async () => {
  const member = await createMember();
  const { browser, answer } = await signIn(identity.url, foreign, member, '/tokens?page=2');
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/tokens?page=2']);
  expect(await whoIs(browser)).toMatchObject({ id: member.id, role: 'member' });
  expect([...browser.cookies.keys()].toSorted()).toEqual(['platform_csrf', 'platform_session']);
  const [linked] = await audited('identity_provider.linked', member.id);
  expect(linked?.detail).toMatchObject({ issuer: foreign.issuer, subject: member.subject });
  const opened = await identity.db.query<{ detail: object; first_factor: string }>(
    `select detail, first_factor from sessions join audit_entries on subject_id = sessions.id
     where user_id = $1 and action = 'session.created' order by sessions.id desc limit 1`,
    [member.id],
  );
  expect(opened.rows).toEqual([{ detail: { method: 'provider' }, first_factor: 'provider' }]);
});

test('IDP-5 the request to the provider is bound to the browser, and contains what the standards ask for', async () => {
  const browser = createHttpBrowser(identity.url);
  const { page, url } = await beginSignIn(browser, createPerson().email);
  expect(page.text).toContain(`You sign in at <strong>${new URL(foreign.issuer).host}</strong>`);
  expect(page.headers.get('content-security-policy')).not.toContain('script-src');
  const query = Object.fromEntries(new URL(url).searchParams);
  expect(query).toEqual({
    client_id: client.clientId,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid email profile',
    state: expect.stringMatching(/^[\w-]{43}$/) as string,
    nonce: expect.stringMatching(/^[\w-]{43}$/) as string,
    code_challenge: expect.stringMatching(/^[\w-]{43}$/) as string,
    code_challenge_method: 'S256',
    login_hint: expect.stringContaining('@example.com') as string,
  });
  const [cookie] = page.headers.getSetCookie().filter((line) => line.startsWith('platform_provider'));
  expect(cookie).toMatch(/^platform_provider=[\w-]{43}; Max-Age=600; Path=\/; SameSite=Lax; HttpOnly$/);
  const { rows } = await identity.db.query<object>(
    'select * from provider_sign_ins order by created_at desc limit 1',
  );
  const stored = JSON.stringify(rows);
  for (const secret of [query['state'], query['nonce'], browser.cookies.get('platform_provider')])
    expect(stored).not.toContain(secret);
});

test('IDP-6 the second sign-in goes by the subject, also after the address has changed', async () => {
  const member = await createMember();
  await signIn(identity.url, foreign, member);
  foreign.people.set(member.subject, { email: 'renamed@example.com', email_verified: true });
  const { browser } = await signIn(identity.url, foreign, member);
  expect(await whoIs(browser)).toMatchObject({ id: member.id, email: member.email });
});

test('IDP-6 an account belongs to one subject until an administrator disconnects it', async () => {
  const member = await createMember();
  await signIn(identity.url, foreign, member);
  const other = createPerson({ email: member.email });
  const refused = await signIn(identity.url, foreign, { ...other, email: member.email });
  expect([refused.answer.status, refused.answer.text]).toEqual([
    403,
    expect.stringContaining('another identity'),
  ]);
  expect(await whoIs(refused.browser)).toBeUndefined();

  const path = `/api/v1/users/${member.id}/identity-provider`;
  expect((await identity.call('DELETE', path, { token: member.session })).status).toBe(403);
  expect((await identity.call('DELETE', path, { token: session })).status).toBe(200);
  expect((await identity.call('DELETE', path, { token: session })).body.error.code).toBe('NOT_LINKED');
  const { browser } = await signIn(identity.url, foreign, { ...other, email: member.email });
  expect(await whoIs(browser)).toMatchObject({ id: member.id });
});

test('IDP-7 somebody who is no member gets in only where the organisation wants it, as a member', async () => {
  const person = createPerson();
  const refused = await signIn(identity.url, foreign, person);
  expect([refused.answer.status, refused.answer.text]).toEqual([
    403,
    expect.stringContaining('not a member'),
  ]);
  const [entry] = await audited('identity_provider.refused', identity.orgId);
  expect(entry).toEqual({ reason: 'not_a_member', detail: { email: person.email } });

  await saveProvider(identity, session, { issuer: foreign.issuer, justInTimeMembership: true });
  const { browser } = await signIn(identity.url, foreign, person);
  const user = await whoIs(browser);
  expect(user).toMatchObject({ email: person.email, fullName: 'Grace Hopper', role: 'member' });
  expect(await audited('user.created', user?.id ?? '')).toMatchObject([{ reason: 'provider' }]);
  // They count as members: no invitation lapses, and no password works.
  await identity.sweep();
  expect(await whoIs((await signIn(identity.url, foreign, person)).browser)).toMatchObject({ id: user?.id });
});

test('IDP-7 an invitee who signs in has accepted the invitation, and its link ends', async () => {
  const { subject, email } = createPerson();
  await identity.db.query(
    `insert into users (id, org_id, email, full_name, role, created_at) values (gen_random_uuid(), $1, $2, 'Ada', 'admin', now())`,
    [identity.orgId, email],
  );
  const { browser } = await signIn(identity.url, foreign, { subject, email });
  expect(await whoIs(browser)).toMatchObject({ email, role: 'admin' });
  const { rows } = await identity.db.query('select 1 from one_time_secrets where subject = $1', [email]);
  expect(rows).toEqual([]);
});

test('IDP-6 a removed member does not come back by themselves, but by an invitation', async () => {
  await saveProvider(identity, session, { issuer: foreign.issuer, justInTimeMembership: true });
  for (const hadSignedIn of [true, false]) {
    const member = await createMember();
    if (hadSignedIn) await signIn(identity.url, foreign, member);
    expect((await identity.call('DELETE', `/api/v1/users/${member.id}`, { token: session })).status).toBe(
      200,
    );
    const refused = await signIn(identity.url, foreign, member);
    expect([refused.answer.status, refused.answer.text]).toEqual([
      403,
      expect.stringContaining('no longer a member'),
    ]);
    const again = await identity.call('POST', '/api/v1/users', {
      token: session,
      body: { email: member.email, fullName: 'Ada Again', password: 'correct-horse-battery' },
    });
    const { browser } = await signIn(identity.url, foreign, member);
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
    'outside the verified domains',
  ],
])('IDP-6 nobody is signed in when %s', async (_case, claims, message) => {
  await saveProvider(identity, session, { issuer: foreign.issuer, justInTimeMembership: true });
  const person = createPerson(claims);
  const { browser, answer } = await signIn(identity.url, foreign, person);
  expect([answer.status, answer.text]).toEqual([403, expect.stringContaining(message)]);
  expect(await whoIs(browser)).toBeUndefined();
});

test('IDP-6 a member of another organisation is not signed in, whatever the provider says', async () => {
  const other = await identity.createOrganisation('boss@elsewhere.example');
  const member = await identity.createMember(other.session);
  const { subject } = createPerson({ email: member.email });
  await saveProvider(identity, session, { issuer: foreign.issuer, justInTimeMembership: true });
  const { browser, answer } = await signIn(identity.url, foreign, { subject, email: member.email });
  expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('cannot sign in here')]);
  expect(await whoIs(browser)).toBeUndefined();
});

test('IDP-5 an address without a provider is told so, whether or not there is an account', async () => {
  await identity.createOrganisation('known@plain.example');
  for (const email of ['known@plain.example', 'unknown@plain.example']) {
    const { page } = await beginSignIn(createHttpBrowser(identity.url), email);
    expect([page.status, page.text]).toEqual([400, expect.stringContaining('No organisation has set up')]);
  }
  const pages = [];
  for (const { email } of [await createMember(), createPerson()])
    pages.push((await beginSignIn(createHttpBrowser(identity.url), email)).page.status);
  expect(pages).toEqual([200, 200]);
});

test('IDP-5 a provider that refuses is named as such, and the sign-in begins again', async () => {
  const browser = createHttpBrowser(identity.url);
  const { url } = await beginSignIn(browser, createPerson().email);
  const state = new URL(url).searchParams.get('state') ?? '';
  const query = new URLSearchParams({ error: 'access_denied', state, iss: foreign.issuer });
  const answer = await comeBack(browser, new URL(`${REDIRECT_URI}?${query.toString()}`));
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('did not succeed')]);
  expect(identity.logged()).toContain('access_denied');
});

test('IDP-5 a client without a secret uses PKCE alone', async () => {
  const member = await createMember();
  const saved = await saveProvider(identity, session, {
    issuer: foreign.issuer,
    clientId: 'public',
    clientSecret: null,
  });
  expect(saved.body.identityProvider).toMatchObject({ hasClientSecret: false });
  expect(await whoIs((await signIn(identity.url, foreign, member)).browser)).toMatchObject({ id: member.id });
});
