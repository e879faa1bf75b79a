import { randomBytes, randomUUID } from 'node:crypto';
import { createHttpBrowser, type HttpBrowser } from '../../browser.js';
import { type IdentityUnderTest, type Member, startIdentity } from '../../identity.js';
import {
  beginSignIn,
  comeBack,
  environment,
  CALLBACK_URL,
  saveProvider,
  verifyDomain,
  whoIs,
} from './flow.js';
import { type HostileProvider, sendJson, startHostileProvider } from './hostile-provider.js';

let identity: IdentityUnderTest;
let hostile: HostileProvider;
let session: string;
let member: Member;

beforeAll(async () => {
  hostile = await startHostileProvider();
  identity = await startIdentity({ environment });
  session = await identity.login();
  member = await identity.createMember(session);
  await verifyDomain(identity.databaseUrl, identity.orgId, 'example.com');
  await saveProvider(identity, session, { issuer: hostile.issuer });
});
afterAll(async () => {
  await identity?.close();
  await hostile?.close();
});

/** Begins a sign-in of the member. @returns what the provider was asked. */
async function begin(browser: HttpBrowser) {
  const { url } = await beginSignIn(browser, member.email);
  const { state = '', nonce = '' } = Object.fromEntries(new URL(url).searchParams);
  return { state, nonce };
}

const toCallback = (query: Record<string, string>): URL =>
  new URL(
    `${CALLBACK_URL}/${identity.orgId}?${new URLSearchParams({ code: 'a-code', iss: hostile.issuer, ...query }).toString()}`,
  );

const right = (nonce: string) => ({ sub: 's', email: member.email, email_verified: true, nonce });

/** Signs in with an ID token, and returns what came of it. */
async function signInWith(toToken: (nonce: string) => Promise<string>, query: Record<string, string> = {}) {
  const browser = createHttpBrowser(identity.url);
  const { state, nonce } = await begin(browser);
  hostile.idToken = () => toToken(nonce);
  const answer = await comeBack(browser, toCallback({ state, ...query }));
  return { browser, state, status: answer.status, user: await whoIs(browser) };
}

const refused = { status: 400, user: undefined };

test('IDP-13 the ID token that the other tests forge is accepted when it is right', async () => {
  expect(await signInWith((nonce) => hostile.sign(right(nonce)))).toMatchObject({
    status: 303,
    user: { id: member.id },
  });
});

test.each([
  ['is not signed', 'none'],
  ['is signed with the public key as a secret', 'hs256'],
  ['is signed with another key', 'other_key'],
] as const)('IDP-13 an ID token that %s is refused', async (_what, forge) => {
  expect(await signInWith((nonce) => hostile.sign(right(nonce), forge))).toMatchObject(refused);
});

const now = Math.floor(Date.now() / 1_000);
test.each<[string, object]>([
  ['is of another issuer', { iss: 'https://other.example' }],
  ['is for another client', { aud: 'another' }],
  ['is for several clients, and another one asked for it', { aud: ['platform', 'another'], azp: 'another' }],
  ['has expired', { iat: now - 3_600, exp: now - 1_800 }],
  ['answers another request', { nonce: 'another' }],
  ['answers no request', { nonce: undefined }],
  ['names nobody', { sub: undefined }],
])('IDP-13 an ID token that %s is refused', async (_what, claims) => {
  expect(await signInWith((nonce) => hostile.sign({ ...right(nonce), ...claims }))).toMatchObject(refused);
});

test.each<[string, object, number]>([
  ['a subject with a NUL', { sub: 'a\0b' }, 400],
  ['a subject of 5,000 characters', { sub: randomBytes(2_500).toString('hex') }, 400],
  ['an address with a NUL', { email: 'a\0b@example.com' }, 403],
  ['an address of two lines', { email: 'a@b\r\nbcc: c@example.com' }, 403],
  ['an address that mail would refuse', { email: 'a b@example.com' }, 403],
  ['an address that is no text', { email: { length: 1e9 } }, 403],
])('IDP-6 %s is refused, and nobody becomes a member', async (_what, claims, status) => {
  await saveProvider(identity, session, { issuer: hostile.issuer, justInTimeMembership: true });
  const count = async () => (await identity.db.query('select from users')).rowCount;
  const before = await count();
  const stranger = { sub: randomUUID(), email: 'stranger@example.com' };
  const sign = (nonce: string) => hostile.sign({ ...right(nonce), ...stranger, ...claims });
  expect(await signInWith(sign)).toMatchObject({ status });
  expect(await count()).toBe(before);
});

test('IDP-13 an ID token is not used for a second sign-in', async () => {
  let kept = '';
  const first = await signInWith(async (nonce) => (kept = await hostile.sign(right(nonce))));
  expect(first.status).toBe(303);
  expect(await signInWith(async () => kept)).toMatchObject(refused);
});

test.each([
  ['of another issuer (mix-up)', { iss: 'https://other.example' }],
  ['without an issuer, although the provider names itself', { iss: '' }],
])('IDP-13 an answer %s is refused before the code is sent anywhere', async (_what, query) => {
  hostile.requests.length = 0;
  expect(await signInWith((nonce) => hostile.sign(right(nonce)), query)).toMatchObject(refused);
  expect(hostile.requests).not.toContain('/token');
});

test('IDP-13 an answer at the address of another organisation is refused before the code is sent anywhere (mix-up)', async () => {
  // Neither provider names itself in its answers.
  const attacker = await startHostileProvider({ authorization_response_iss_parameter_supported: false });
  try {
    await saveProvider(identity, session, { issuer: attacker.issuer });
    const victims = await identity.createOrganisation('boss@victims.example');
    const browser = createHttpBrowser(identity.url);
    const { state, nonce } = await begin(browser);
    attacker.idToken = () => attacker.sign(right(nonce));
    const answerAt = (orgId: string) =>
      comeBack(
        browser,
        new URL(`${CALLBACK_URL}/${orgId}?${new URLSearchParams({ code: 'a-code', state }).toString()}`),
      );
    // The attacker has led the browser on to the provider of the victims, with the state of this sign-in.
    expect((await answerAt(victims.orgId)).status).toBe(400);
    expect((await answerAt('no-organisation')).status).toBe(400);
    expect(attacker.requests).not.toContain('/token');
    expect(await whoIs(browser)).toBeUndefined();
    expect((await answerAt(identity.orgId)).status).toBe(303);
  } finally {
    await saveProvider(identity, session, { issuer: hostile.issuer });
    await attacker.close();
  }
});

test('IDP-5 an answer counts in the browser that began, and once', async () => {
  const [browser, victim] = [createHttpBrowser(identity.url), createHttpBrowser(identity.url)];
  const { state, nonce } = await begin(browser);
  hostile.idToken = () => hostile.sign(right(nonce));
  // The victim has begun a sign-in too, so it has its own cookie.
  await begin(victim);
  for (const stranger of [victim, createHttpBrowser(identity.url)]) {
    expect((await comeBack(stranger, toCallback({ state }))).status).toBe(400);
    expect(await whoIs(stranger)).toBeUndefined();
  }
  const cookie = browser.cookies.get('platform_provider') ?? '';
  expect((await comeBack(browser, toCallback({ state }))).status).toBe(303);
  // Also for a browser that has kept its cookie.
  browser.cookies.set('platform_provider', cookie);
  for (const again of [browser, victim])
    expect((await comeBack(again, toCallback({ state }))).status).toBe(400);
});

test('IDP-5 an answer without a state, with a wrong one or with two is refused', async () => {
  const browser = createHttpBrowser(identity.url);
  const { state } = await begin(browser);
  for (const query of [
    '',
    'code=a',
    'state=x&code=a',
    `state=${state}&state=${state}&code=a`,
    '%00=%ff&state=%',
  ])
    expect((await comeBack(browser, new URL(`${CALLBACK_URL}/${identity.orgId}?${query}`))).status).toBe(400);
  expect(await whoIs(browser)).toBeUndefined();
});

test('IDP-5 a sign-in expires after ten minutes, and with a change of the settings', async () => {
  const browser = createHttpBrowser(identity.url);
  const changed = await begin(browser);
  await saveProvider(identity, session, { issuer: hostile.issuer });
  expect((await comeBack(browser, toCallback({ state: changed.state }))).status).toBe(400);
  const late = await begin(browser);
  identity.advance(10 * 60_000);
  expect((await comeBack(browser, toCallback({ state: late.state }))).status).toBe(400);
  await identity.sweep();
  expect((await identity.db.query('select 1 from provider_sign_ins')).rows).toEqual([]);
});

test('IDP-14 a sign-in leads to no other site', async () => {
  for (const target of ['https://evil.example', '//evil.example', '/\\evil.example']) {
    const browser = createHttpBrowser(identity.url);
    const { url } = await beginSignIn(browser, member.email, target);
    const { state = '', nonce = '' } = Object.fromEntries(new URL(url).searchParams);
    hostile.idToken = () => hostile.sign(right(nonce));
    expect((await comeBack(browser, toCallback({ state }))).headers.get('location')).toBe('/');
  }
});

test('IDP-6 the address in userinfo is of the same person, and verified there', async () => {
  const thin = await startHostileProvider();
  try {
    const path = '/.well-known/openid-configuration';
    const answer = await fetch(thin.issuer + path).then((response) => response.json() as Promise<object>);
    thin.answers.set(path, sendJson({ ...answer, userinfo_endpoint: `${thin.issuer}/userinfo` }));
    session = await identity.login();
    await saveProvider(identity, session, { issuer: thin.issuer });
    const signIn = async (claims: object, info: object) => {
      const browser = createHttpBrowser(identity.url);
      const { state, nonce } = await begin(browser);
      thin.answers.set(
        '/userinfo',
        sendJson({ sub: 's', email: member.email, email_verified: true, ...info }),
      );
      thin.idToken = () => thin.sign({ sub: 's', nonce, ...claims });
      return (await comeBack(browser, toCallback({ state, iss: thin.issuer }))).status;
    };
    expect(await signIn({}, {})).toBe(303);
    expect(await signIn({}, { sub: 'another' })).toBe(400);
    expect(await signIn({}, { email_verified: false })).toBe(403);
    // Verified in the token, but another address in userinfo: both have to come from one answer.
    expect(await signIn({ email_verified: true }, { email_verified: undefined })).toBe(403);
  } finally {
    await saveProvider(identity, session, { issuer: hostile.issuer });
    await thin.close();
  }
});
