import { createHttpBrowser, fieldIn, type HttpBrowser } from '../../browser.js';
import { createPhone } from '../second-factor/authenticator.js';
import { beginSignIn, comeBack, saveProvider, signIn } from './flow.js';
import { startHostileProvider } from './hostile-provider.js';
import { useProvider } from './use-provider.js';

const provider = useProvider();
const SET_UP = '/sign-in/security/set-up';
const SECOND_FACTOR = '/api/v1/auth/second-factor';

const hostile = await startHostileProvider({ authorization_response_iss_parameter_supported: false });
beforeEach(async () => {
  await provider.save({ justInTimeMembership: true });
});
afterAll(() => hostile?.close());

/** The provider's clock is the real one, so the sessions grow old rather than the clock of the platform. */
const makeStale = () =>
  provider.identity.db.query(
    `update sessions set created_at = created_at - interval '10 minutes',
       authenticated_at = authenticated_at - interval '10 minutes'`,
  );

/** Signs somebody in who has no password, more than ten minutes ago. */
async function signInWithoutPassword() {
  const person = provider.createPerson();
  const { browser } = await signIn(provider.identity.url, provider.foreign, person);
  await makeStale();
  return { person, browser };
}

/** Presses the button of a page that asks for the password. @returns the address of the provider. */
async function leaveToConfirm(browser: HttpBrowser, path = SET_UP): Promise<URL> {
  const page = await browser.open(`/sign-in/confirm?${new URLSearchParams({ returnTo: path }).toString()}`);
  expect(page.text).toContain('Confirm with your organisation');
  const leaving = await browser.post('/sign-in/provider/confirm', {
    csrf: fieldIn(page, 'csrf'),
    returnTo: path,
  });
  return new URL(/content="0;url=([^"]+)"/.exec(leaving.text)?.[1]?.replaceAll('&amp;', '&') ?? '');
}

async function confirmAs(browser: HttpBrowser, subject: string, path = SET_UP) {
  const url = await leaveToConfirm(browser, path);
  provider.foreign.signsIn = { subject };
  return comeBack(browser, await provider.foreign.authorize(url.href));
}

/** Signs a new member in at a provider whose ID tokens have these claims. `answer` is its answer to a later request. */
async function signInWithClaims(sub: string, claims: object) {
  const { identity } = provider;
  await saveProvider(identity, await identity.login(), {
    issuer: hostile.issuer,
    justInTimeMembership: true,
  });
  const person = { sub, email: `${sub}@example.com`, email_verified: true };
  const browser = createHttpBrowser(identity.url);
  const answer = async (url: URL, more: object) => {
    const { state = '', nonce, redirect_uri: callback = '' } = Object.fromEntries(url.searchParams);
    hostile.idToken = () => hostile.sign({ ...person, nonce, ...more });
    return comeBack(browser, new URL(`${callback}?${new URLSearchParams({ code: 'c', state }).toString()}`));
  };
  const { url } = await beginSignIn(browser, person.email);
  expect((await answer(new URL(url), claims)).status).toBe(303);
  return { browser, answer };
}

const enrol = (browser: HttpBrowser, body: object = {}) =>
  browser.call('POST', `${SECOND_FACTOR}/totp`, { body });
const codeIn = ({ body }: { body?: unknown }) => (body as { error?: { code: string } }).error?.code;

test('AUTH-40 a member without a password sets a second factor up with a fresh sign-in at the provider', async () => {
  const { person, browser } = await signInWithoutPassword();
  expect(codeIn(await enrol(browser))).toBe('CONFIRMATION_REQUIRED');
  const url = await leaveToConfirm(browser);
  expect(Object.fromEntries(url.searchParams)).toMatchObject({ prompt: 'login', max_age: '0' });
  const back = await confirmAs(browser, person.subject);
  expect([back.status, back.headers.get('location')]).toEqual([303, SET_UP]);

  const page = await browser.open(SET_UP);
  const begun = await browser.post(SET_UP, { csrf: fieldIn(page, 'csrf') });
  expect([begun.status, begun.text]).toEqual([200, expect.stringContaining('Scan the picture')]);
  await makeStale();
  expect(codeIn(await enrol(browser))).toBe('CONFIRMATION_REQUIRED');
});

test('AUTH-40 the fresh sign-in takes the place of the password, not of the second factor', async () => {
  const { person, browser } = await signInWithoutPassword();
  await confirmAs(browser, person.subject);
  const { secret, enrolment } = (await enrol(browser)).body as { secret: string; enrolment: string };
  const app = createPhone(provider.identity).install(secret);
  const confirmed = await browser.call('POST', `${SECOND_FACTOR}/totp/confirm`, {
    body: { enrolment, code: app.code() },
  });
  expect(confirmed.status).toBe(200);
  const [recoveryCode] = (confirmed.body as { recoveryCodes: string[] }).recoveryCodes;

  const disable = (body: object) => browser.call('POST', `${SECOND_FACTOR}/totp/disable`, { body });
  await makeStale();
  // Without the confirmation, no code is even looked at.
  expect(codeIn(await disable({ code: recoveryCode }))).toBe('CONFIRMATION_REQUIRED');
  await confirmAs(browser, person.subject, '/sign-in/security/remove');
  expect(codeIn(await disable({}))).toBe('SECOND_FACTOR_REQUIRED');
  expect(codeIn(await disable({ code: '0000-0000-0000-0000' }))).toBe('SECOND_FACTOR_INVALID');
  expect((await disable({ code: recoveryCode })).status).toBe(200);
});

test('AUTH-40 a sign-in as somebody else, or for another session, confirms nothing', async () => {
  const { person, browser } = await signInWithoutPassword();
  const other = await confirmAs(browser, provider.createPerson().subject);
  expect([other.status, other.text]).toEqual([403, expect.stringContaining('as somebody else')]);
  expect(codeIn(await enrol(browser))).toBe('CONFIRMATION_REQUIRED');

  const elsewhere = await signIn(provider.identity.url, provider.foreign, person);
  await makeStale();
  const url = await leaveToConfirm(browser);
  provider.foreign.signsIn = { subject: person.subject };
  const back = await provider.foreign.authorize(url.href);
  // The browser has another session of the same member by now.
  const before = new Map(browser.cookies);
  for (const [name, value] of elsewhere.browser.cookies) browser.cookies.set(name, value);
  expect((await comeBack(browser, back)).status).toBe(400);
  expect(codeIn(await enrol(browser))).toBe('CONFIRMATION_REQUIRED');
  for (const [name, value] of before) browser.cookies.set(name, value);
  expect((await comeBack(browser, back)).status).toBe(400);

  expect((await confirmAs(browser, person.subject)).status).toBe(303);
  expect(codeIn(await enrol(elsewhere.browser))).toBe('CONFIRMATION_REQUIRED');
});

test('AUTH-40 an account that is not connected is not led to the provider', async () => {
  const member = await provider.createMember();
  const { browser } = await signIn(provider.identity.url, provider.foreign, member);
  await makeStale();
  const csrf = fieldIn(await browser.open('/sign-in/confirm'), 'csrf');
  await provider.identity.db.query('delete from provider_links where user_id = $1', [member.id]);
  expect((await browser.open('/sign-in/confirm')).text).not.toContain('Confirm with your organisation');
  const refused = await browser.post('/sign-in/provider/confirm', { csrf, returnTo: SET_UP });
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('not connected')]);
  const forged = { csrf: 'x', returnTo: SET_UP };
  expect((await browser.post('/sign-in/provider/confirm', forged)).status).toBe(403);
});

test.each([
  ['long ago', (now: number) => ({ auth_time: now - 600 })],
  ['at a time that it does not name', () => ({})],
])(
  'AUTH-58 a sign-in at a provider where the person authenticated %s opens a session that is not confirmed',
  async (_when, claims) => {
    const now = Math.floor(Date.now() / 1_000);
    const { browser, answer } = await signInWithClaims('silent', claims(now));
    const createToken = () =>
      browser.call('POST', '/api/v1/personal-access-tokens', { body: { name: 'Mine' } });
    expect((await browser.call('GET', '/api/v1/users/me')).status).toBe(200);
    expect(codeIn(await createToken())).toBe('CONFIRMATION_REQUIRED');
    const confirmed = await answer(await leaveToConfirm(browser, '/sign-in/confirm'), { auth_time: now });
    expect(confirmed.status).toBe(303);
    expect((await createToken()).status).toBe(201);
  },
);

test('AUTH-40 a provider has to say that the person has just signed in, and the confirmation ends after ten minutes', async () => {
  const { browser, answer } = await signInWithClaims('hostile', {});
  const now = Math.floor(Date.now() / 1_000);
  for (const claims of [{}, { auth_time: now - 300 }, { auth_time: 9e12 }]) {
    const refused = await answer(await leaveToConfirm(browser), claims);
    expect([claims, refused.status, refused.text.includes('You are not confirmed')]).toEqual([
      claims,
      403,
      true,
    ]);
  }
  expect(codeIn(await enrol(browser))).toBe('CONFIRMATION_REQUIRED');
  const done = await answer(await leaveToConfirm(browser), { auth_time: now + 0.123_456_7 });
  expect(done.status).toBe(303);
  await makeStale();
  expect(codeIn(await enrol(browser))).toBe('CONFIRMATION_REQUIRED');
});

test('AUTH-58 a confirmation at the provider counts from when the person authenticated there', async () => {
  const { browser, answer } = await signInWithClaims('slow', {});
  const { rows } = await provider.identity.db.query<{ at: Date }>(
    'select max(created_at) as at from sessions',
  );
  const url = await leaveToConfirm(browser);
  // The last page of the provider is left open.
  provider.identity.advance(9 * 60_000);
  const authTime = Math.floor(Number(rows[0]?.at) / 1_000);
  expect((await answer(url, { auth_time: authTime })).status).toBe(303);
  provider.identity.advance(2 * 60_000);
  const body = { name: 'Mine' };
  expect(codeIn(await browser.call('POST', '/api/v1/personal-access-tokens', { body }))).toBe(
    'CONFIRMATION_REQUIRED',
  );
});
