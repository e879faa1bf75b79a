import { createSessionCookies } from '@platform/auth';
import { createHttpBrowser, fieldIn, sameOrigin } from '../../browser.js';
import { admin, startIdentity } from '../../identity.js';

const PUBLIC_URL = 'http://localhost:8080';
const TOKENS = '/api/v1/personal-access-tokens';
const ME = '/api/v1/users/me';

const identity = await startIdentity({ environment: { PUBLIC_URL } });
const browser = createHttpBrowser(identity.url);
await browser.signIn(admin);
afterAll(() => identity.close());

/** Calls the API with the cookies of the signed-in browser and nothing but these headers. */
async function callWith(method: string, path: string, headers: Record<string, string>, body?: object) {
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  return identity.call(method, path, { headers: { cookie, ...headers }, body });
}
const csrf = () => browser.cookies.get('platform_csrf') ?? '';
const create = (headers: Record<string, string>) => callWith('POST', TOKENS, headers, { name: 'forged' });
const countTokens = async () =>
  (await identity.db.query('select count(*)::int as count from personal_access_tokens')).rows[0]
    .count as number;

test.each([
  ['nothing', () => ({})],
  ['no token', () => ({ ...sameOrigin, origin: PUBLIC_URL })],
  ['an empty token', () => ({ ...sameOrigin, 'x-csrf-token': '' })],
  ['a token of another session', () => ({ ...sameOrigin, 'x-csrf-token': 'x'.repeat(43) })],
  ['the token from a page of another site', () => ({ 'sec-fetch-site': 'cross-site', 'x-csrf-token': csrf() })],
  ['the token from another host of the site', () => ({ 'sec-fetch-site': 'same-site', origin: PUBLIC_URL, 'x-csrf-token': csrf() })],
  ['the token without an origin', () => ({ 'x-csrf-token': csrf() })],
  ['the token and a foreign origin', () => ({ origin: 'https://evil.example', 'x-csrf-token': csrf() })],
  ['the token and the origin null', () => ({ origin: 'null', 'x-csrf-token': csrf() })],
] as const)('AUTH-22 rejects a change by cookie with %s', async (_what, toHeaders) => {
  const before = await countTokens();
  const { status, body, headers } = await create(toHeaders());
  expect([status, body.error.code]).toEqual([403, 'SAME_ORIGIN_REQUIRED']);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(await countTokens()).toBe(before);
}); // prettier-ignore

test('AUTH-22 accepts a change by cookie with the token and an old or new proof of origin', async () => {
  expect((await create({ ...sameOrigin, 'x-csrf-token': csrf() })).status).toBe(201);
  expect((await create({ origin: PUBLIC_URL, 'x-csrf-token': csrf() })).status).toBe(201);
});

test('AUTH-22 a read by cookie requires the token, too', async () => {
  expect((await callWith('GET', ME, sameOrigin)).status).toBe(403);
  expect((await callWith('GET', ME, { 'sec-fetch-site': 'cross-site', 'x-csrf-token': csrf() })).status).toBe(
    403,
  );
  expect((await callWith('GET', ME, { 'x-csrf-token': csrf() })).status).toBe(200);
});

test('AUTH-23 a request with a bearer token and a cookie uses only the bearer token', async () => {
  const session = await identity.login();
  const member = await identity.createMember(session);
  const proof = { ...sameOrigin, 'x-csrf-token': csrf() };
  const me = await callWith('GET', ME, { ...proof, authorization: `Bearer ${member.session}` });
  expect(me.body.user.email).toBe(member.email);
  for (const authorization of ['Bearer garbage', 'Bearer', 'Basic YTpi'])
    expect((await callWith('GET', ME, { ...proof, authorization })).status).toBe(401);
});

test('AUTH-23 accepts only a session in the cookie, and only once', async () => {
  const { accessToken } = await identity.createToken(await identity.login(), { scopes: ['user:read'] });
  const session = browser.cookies.get('platform_session') ?? '';
  const { toCsrfToken } = createSessionCookies(PUBLIC_URL);
  const call = (cookie: string, credential = session) =>
    identity.call('GET', ME, {
      headers: { ...sameOrigin, 'x-csrf-token': toCsrfToken(credential), cookie },
    });
  expect((await call(`platform_session=${session}`)).status).toBe(200);
  expect((await call(`other=1;platform_session=${session}; x_platform_session=2`)).status).toBe(200);
  expect((await call(`platform_session=${session}; platform_session=${session}`)).status).toBe(401);
  for (const token of [accessToken, accessToken.replace('pat_', ''), 'garbage', session.slice(0, -1)])
    expect((await call(`platform_session=${token}`, token)).status).toBe(401);
  expect(await identity.call('GET', ME, { token: accessToken })).toMatchObject({ status: 200 });
});

test.each(['/mcp', '/api/v1/oauth2/introspect'])('AUTH-23 %s accepts no cookie', async (path) => {
  const proof = { ...sameOrigin, 'x-csrf-token': csrf() };
  const { status } = await callWith('POST', path, proof, {
    jsonrpc: '2.0',
    id: 1,
    method: 'ping',
    token: 'x',
  });
  expect(status).toBe(401);
});

describe('the sign-in form', () => {
  const open = () => createHttpBrowser(identity.url);

  test('AUTH-24 rejects a form from another site (login CSRF)', async () => {
    const victim = open();
    const page = await victim.open('/sign-in');
    const fields = { csrf: fieldIn(page, 'csrf'), returnTo: '/', ...admin };
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }, { origin: 'https://evil.example' }, { origin: 'null' }, {}])
      expect((await victim.post('/sign-in', fields, headers)).status).toBe(403);
    // The attacker knows a token, but it belongs to the cookie of the attacker's browser.
    const attacker = open();
    const foreign = fieldIn(await attacker.open('/sign-in'), 'csrf');
    expect((await victim.post('/sign-in', { ...fields, csrf: foreign })).status).toBe(403);
    expect((await open().post('/sign-in', fields)).status).toBe(403);
    expect(victim.cookies.has('platform_session')).toBe(false);
    expect((await victim.post('/sign-in', fields)).status).toBe(303);
  }); // prettier-ignore

  test('AUTH-21 keeps no session or form from before the sign-in (session fixation)', async () => {
    const planted = open();
    await planted.signIn(admin);
    const victim = open();
    for (const [name, value] of planted.cookies) victim.cookies.set(name, value);
    await victim.signIn(admin);
    expect(victim.cookies.get('platform_session')).not.toBe(planted.cookies.get('platform_session'));
    expect((await planted.call('GET', ME)).status).toBe(401);

    const other = open();
    const page = await other.open('/sign-in');
    const form = { name: 'platform_form', value: other.cookies.get('platform_form') ?? '' };
    await other.post('/sign-in', { csrf: fieldIn(page, 'csrf'), returnTo: '/', ...admin });
    other.cookies.set(form.name, form.value);
    const late = await other.post('/sign-out', { csrf: fieldIn(page, 'csrf') });
    expect([late.status, (await other.call('GET', ME)).status]).toEqual([403, 200]);
  });

  test('AUTH-24 redirects only to pages of this origin', async () => {
    for (const returnTo of [
      'https://evil.example',
      '//evil.example',
      '/\\evil.example',
      '/.//evil.example',
    ]) {
      const visitor = open();
      const answer = await visitor.signIn(admin, returnTo);
      expect([answer.status, answer.headers.get('location')]).toEqual([303, '/']);
      const signedIn = await visitor.open(`/sign-in?${new URLSearchParams({ returnTo }).toString()}`);
      expect([signedIn.status, signedIn.headers.get('location')]).toEqual([303, '/']);
    }
  });

  test('AUTH-24 escapes the contents of an address or path', async () => {
    const visitor = open();
    const page = await visitor.signIn({ email: '"><script>alert(1)</script>', password: 'x' }, `/"'><b>`);
    expect(page.text).not.toContain('<script>alert');
    expect(page.text).not.toContain('<b>');
    expect(page.text).toContain('&quot;&gt;&lt;script&gt;alert(1)');
  });
});

test.each(['/sign-in', '/sign-in/code', '/sign-in/forgot-password', '/sign-in/invite', '/sign-in/reset-password', '/sign-out'])(
  'AUTH-24 %s cannot be framed, cached or leaked to another site',
  async (path) => {
    const { status, headers } = await createHttpBrowser(identity.url).open(path);
    expect(status).toBe(200);
    const policy = headers.get('content-security-policy') ?? '';
    for (const rule of [`default-src 'none'`, `frame-ancestors 'none'`, `base-uri 'none'`, `form-action 'self'`])
      expect(policy.split('; ')).toContain(rule);
    expect(policy).not.toMatch(/unsafe|\*/);
    expect([headers.get('cache-control'), headers.get('referrer-policy'), headers.get('x-content-type-options')]).toEqual(['no-store', 'same-origin', 'nosniff']);
  },
); // prettier-ignore

test.each(['/sign-in', '/sign-in/code', '/sign-in/forgot-password', '/sign-in/provider'])(
  'AUTH-24 a form of %s with a NUL character is 400',
  async (path) => {
    const stranger = createHttpBrowser(identity.url);
    const page = await stranger.open(path);
    for (const email of ['a\0@b.example', 'a@b\0.example']) {
      const fields = { csrf: fieldIn(page, 'csrf'), returnTo: '/', email, password: 'correct-horse-battery' };
      expect((await stranger.post(path, fields)).status).toBe(400);
    }
  },
);
