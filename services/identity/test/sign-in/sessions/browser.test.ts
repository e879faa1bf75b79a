import { createSessionCookies, toDigest } from '@platform/auth';
import { createHttpBrowser, fieldIn, sameOrigin } from '../../browser.js';
import { admin, startIdentity } from '../../identity.js';

const PUBLIC_URL = 'http://localhost:8080';
const DAY_SECONDS = 86_400;
const TOKENS = '/api/v1/personal-access-tokens';
const ME = '/api/v1/users/me';

const identity = await startIdentity({ environment: { PUBLIC_URL } });
const signedIn = createHttpBrowser(identity.url);
await signedIn.signIn(admin);
afterAll(() => identity.close());

const openBrowser = () => createHttpBrowser(identity.url);

/** Calls the API with the cookies of the signed-in browser and nothing but these headers. */
async function callWith(method: string, path: string, headers: Record<string, string>, body?: object) {
  const cookie = [...signedIn.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  return identity.call(method, path, { headers: { cookie, ...headers }, body });
}
const readCsrf = () => signedIn.cookies.get('platform_csrf') ?? '';
const create = (headers: Record<string, string>) => callWith('POST', TOKENS, headers, { name: 'forged' });
const countTokens = async () =>
  (await identity.db.query('select count(*)::int as count from personal_access_tokens')).rows[0]
    .count as number;

test('AUTH-19 the sign-in page opens a session of 24 hours in a cookie that scripts cannot read, and stores its hash', async () => {
  const browser = openBrowser();
  const answer = await browser.signIn(admin, '/tokens?page=2');
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/tokens?page=2']);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  const session = browser.cookies.get('platform_session') ?? '';
  expect(answer.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^platform_browser=[\w-]{43}; Max-Age=15552000; Path=\/; SameSite=Lax; HttpOnly$/),
    `platform_session=${session}; Max-Age=${DAY_SECONDS}; Path=/; SameSite=Lax; HttpOnly`,
    `platform_csrf=${browser.cookies.get('platform_csrf')}; Max-Age=${DAY_SECONDS}; Path=/; SameSite=Lax`,
    'platform_form=; Max-Age=0; Path=/; SameSite=Lax; HttpOnly',
  ]);
  const { rows } = await identity.db.query('select token_hash from sessions order by id desc limit 1');
  expect(rows).toEqual([{ token_hash: toDigest(session) }]);
  const me = await browser.call('GET', ME);
  expect([me.status, me.body.user.email, me.headers.get('cache-control')]).toEqual([200, admin.email, 'no-store']);
}); // oxfmt-ignore

test('AUTH-19 over HTTPS the cookies are Secure and bound to the host', async () => {
  const secure = await startIdentity({ environment: { PUBLIC_URL: 'https://knowledge.example.com' } });
  try {
    const browser = createHttpBrowser(secure.url);
    const answer = await browser.signIn(admin);
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-platform_browser=[^;]+; Max-Age=15552000; Path=\/; SameSite=Lax; Secure; HttpOnly$/),
      expect.stringMatching(/^__Host-platform_session=[^;]+; Max-Age=86400; Path=\/; SameSite=Lax; Secure; HttpOnly$/),
      expect.stringMatching(/^__Host-platform_csrf=[^;]+; Max-Age=86400; Path=\/; SameSite=Lax; Secure$/),
      expect.stringMatching(/^__Host-platform_form=;/),
    ]);
    expect((await browser.call('GET', ME)).status).toBe(200);
    // A cookie without the prefix may come from another host of the domain.
    browser.cookies.set('platform_session', browser.cookies.get('__Host-platform_session') ?? '');
    browser.cookies.delete('__Host-platform_session');
    expect((await browser.call('GET', ME)).status).toBe(401);
  } finally {
    await secure.close();
  }
}); // oxfmt-ignore

test('AUTH-19 rejects a sign-in over plain HTTP from another machine', async () => {
  const open = await startIdentity({ environment: { PUBLIC_URL: 'http://platform.example.com' } });
  try {
    const browser = createHttpBrowser(open.url);
    const pages = ['in', 'in/code', 'in/forgot-password', 'in/reset-password', 'in/invite', 'out'];
    for (const page of pages)
      expect((await browser.open(`/sign-${page}`)).text).toContain('HTTPS is required');
    expect((await browser.post('/sign-in', { csrf: 'x', returnTo: '/', ...admin })).status).toBe(403);
    const token = await open.login();
    const headers = { cookie: `platform_session=${token}; __Host-platform_session=${token}` };
    expect((await browser.call('GET', ME, { headers })).status).toBe(401);
  } finally {
    await open.close();
  }
});

test('a wrong password shows the form again with the address, and reveals no more than the API', async () => {
  const browser = openBrowser();
  const wrong = await browser.signIn({ email: admin.email, password: 'wrong-password' }, '/tokens');
  const unknown = await browser.signIn(
    { email: 'nobody@example.com', password: 'wrong-password' },
    '/tokens',
  );
  expect([wrong.status, unknown.status]).toEqual([401, 401]);
  expect(wrong.text).toContain('Invalid e-mail or password.');
  expect([fieldIn(wrong, 'email'), fieldIn(wrong, 'returnTo')]).toEqual([admin.email, '/tokens']);
  // The challenge of a passkey is random.
  const strip = (text: string) => text.replace(/ data-passkey-alone="[^"]*"/, '');
  expect(strip(unknown.text).replaceAll('nobody@example.com', admin.email)).toBe(strip(wrong.text));
  expect(browser.cookies.has('platform_session')).toBe(false);
});

test('AUTH-20 the sign-out page and the API end a session by cookie at once', async () => {
  const browser = openBrowser();
  await browser.signIn(admin);
  const session = browser.cookies.get('platform_session') ?? '';
  const page = await browser.open('/sign-out');
  expect(page.text).toContain(admin.email);
  const left = await browser.post('/sign-out', { csrf: fieldIn(page, 'csrf') });
  expect([left.status, left.headers.get('clear-site-data')]).toEqual([303, '"cache"']);
  expect([...browser.cookies.keys()]).toEqual(['platform_browser']);
  expect((await identity.call('GET', ME, { token: session })).status).toBe(401);
  expect((await browser.open('/sign-out')).text).toContain('You are signed out');

  await browser.signIn(admin);
  const loggedOut = await browser.call('POST', '/api/v1/auth/logout');
  expect([loggedOut.status, loggedOut.headers.get('clear-site-data')]).toEqual([204, '"cache"']);
  expect([...browser.cookies.keys()]).toEqual(['platform_browser']);
});

test('names the organisation of a verified domain, whether or not there is an account', async () => {
  const { orgId } = await identity.createOrganisation('admin@named.example');
  await identity.db.query(
    `insert into identity_domains (org_id, domain, challenge, created_at, verified_at, verified_by) values ($1, 'named.example', '', now(), now(), 'dns')`,
    [orgId],
  );
  const browser = openBrowser();
  const csrf = fieldIn(await browser.open('/sign-in'), 'csrf');
  const post = async (path: string, email: string) =>
    (await browser.post(path, { csrf, returnTo: '/', email, password: 'wrong' })).text;
  const named = '<p class="organisation">Example</p>';
  for (const path of ['/sign-in', '/sign-in/forgot-password'])
    for (const email of ['admin@named.example', 'nobody@named.example'])
      expect([path, await post(path, email)]).toEqual([path, expect.stringContaining(named)]);
  expect(await post('/sign-in', 'nobody@other.example')).not.toContain(named);
});

test('redirects a browser that is signed in, unless it has to sign in again', async () => {
  const browser = openBrowser();
  await browser.signIn(admin);
  const again = await browser.open('/sign-in?returnTo=%2Ftokens');
  expect([again.status, again.headers.get('location')]).toEqual([303, '/tokens']);
  expect((await browser.open('/sign-in?returnTo=%2Ftokens&prompt=login')).status).toBe(200);
});

test.each([
  ['nothing', () => ({})],
  ['no token', () => ({ ...sameOrigin, origin: PUBLIC_URL })],
  ['an empty token', () => ({ ...sameOrigin, 'x-csrf-token': '' })],
  ['a token of another session', () => ({ ...sameOrigin, 'x-csrf-token': 'x'.repeat(43) })],
  ['the token from a page of another site', () => ({ 'sec-fetch-site': 'cross-site', 'x-csrf-token': readCsrf() })],
  ['the token from another host of the site', () => ({ 'sec-fetch-site': 'same-site', origin: PUBLIC_URL, 'x-csrf-token': readCsrf() })],
  ['the token without an origin', () => ({ 'x-csrf-token': readCsrf() })],
  ['the token and a foreign origin', () => ({ origin: 'https://evil.example', 'x-csrf-token': readCsrf() })],
  ['the token and the origin null', () => ({ origin: 'null', 'x-csrf-token': readCsrf() })],
] as const)('AUTH-22 rejects a change by cookie with %s', async (_what, toHeaders) => {
  const before = await countTokens();
  const { status, body, headers } = await create(toHeaders());
  expect([status, body.error.code]).toEqual([403, 'SAME_ORIGIN_REQUIRED']);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(await countTokens()).toBe(before);
}); // oxfmt-ignore

test('AUTH-22 accepts a change by cookie with the token and an old or new proof of origin', async () => {
  expect((await create({ ...sameOrigin, 'x-csrf-token': readCsrf() })).status).toBe(201);
  expect((await create({ origin: PUBLIC_URL, 'x-csrf-token': readCsrf() })).status).toBe(201);
});

test('AUTH-22 a read by cookie requires the token, too', async () => {
  expect((await callWith('GET', ME, sameOrigin)).status).toBe(403);
  expect(
    (await callWith('GET', ME, { 'sec-fetch-site': 'cross-site', 'x-csrf-token': readCsrf() })).status,
  ).toBe(403);
  expect((await callWith('GET', ME, { 'x-csrf-token': readCsrf() })).status).toBe(200);
});

test('AUTH-23 a request with a bearer token and a cookie uses only the bearer token', async () => {
  const session = await identity.login();
  const member = await identity.createMember(session);
  const proof = { ...sameOrigin, 'x-csrf-token': readCsrf() };
  const me = await callWith('GET', ME, { ...proof, authorization: `Bearer ${member.session}` });
  expect(me.body.user.email).toBe(member.email);
  for (const authorization of ['Bearer garbage', 'Bearer', 'Basic YTpi'])
    expect((await callWith('GET', ME, { ...proof, authorization })).status).toBe(401);
});

test('AUTH-23 accepts only a session in the cookie, and only once', async () => {
  const { accessToken } = await identity.createToken(await identity.login(), { scopes: ['user:read'] });
  const session = signedIn.cookies.get('platform_session') ?? '';
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
  const proof = { ...sameOrigin, 'x-csrf-token': readCsrf() };
  const { status } = await callWith('POST', path, proof, {
    jsonrpc: '2.0',
    id: 1,
    method: 'ping',
    token: 'x',
  });
  expect(status).toBe(401);
});

describe('the sign-in form', () => {
  test('AUTH-24 rejects a form from another site (login CSRF)', async () => {
    const victim = openBrowser();
    const page = await victim.open('/sign-in');
    const fields = { csrf: fieldIn(page, 'csrf'), returnTo: '/', ...admin };
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }, { origin: 'https://evil.example' }, { origin: 'null' }, {}])
      expect((await victim.post('/sign-in', fields, headers)).status).toBe(403);
    // The attacker knows a token, but it belongs to the cookie of the attacker's browser.
    const attacker = openBrowser();
    const foreign = fieldIn(await attacker.open('/sign-in'), 'csrf');
    expect((await victim.post('/sign-in', { ...fields, csrf: foreign })).status).toBe(403);
    expect((await openBrowser().post('/sign-in', fields)).status).toBe(403);
    expect(victim.cookies.has('platform_session')).toBe(false);
    expect((await victim.post('/sign-in', fields)).status).toBe(303);
  }); // oxfmt-ignore

  test('AUTH-21 keeps no session or form from before the sign-in (session fixation)', async () => {
    const planted = openBrowser();
    await planted.signIn(admin);
    const victim = openBrowser();
    for (const [name, value] of planted.cookies) victim.cookies.set(name, value);
    await victim.signIn(admin);
    expect(victim.cookies.get('platform_session')).not.toBe(planted.cookies.get('platform_session'));
    expect((await planted.call('GET', ME)).status).toBe(401);

    const other = openBrowser();
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
      const visitor = openBrowser();
      const answer = await visitor.signIn(admin, returnTo);
      expect([answer.status, answer.headers.get('location')]).toEqual([303, '/']);
      const again = await visitor.open(`/sign-in?${new URLSearchParams({ returnTo }).toString()}`);
      expect([again.status, again.headers.get('location')]).toEqual([303, '/']);
    }
  });

  test('AUTH-24 escapes the contents of an address or path', async () => {
    const visitor = openBrowser();
    const page = await visitor.signIn({ email: '"><script>alert(1)</script>', password: 'x' }, `/"'><b>`);
    expect(page.text).not.toContain('<script>alert');
    expect(page.text).not.toContain('<b>');
    expect(page.text).toContain('&quot;&gt;&lt;script&gt;alert(1)');
  });
});

test('AUTH-24 no page can be framed, cached or leaked to another site', async () => {
  const paths = ['in', 'in/code', 'in/forgot-password', 'in/invite', 'in/reset-password', 'out'];
  for (const path of paths) {
    const { status, headers } = await openBrowser().open(`/sign-${path}`);
    expect([path, status]).toEqual([path, 200]);
    const policy = headers.get('content-security-policy') ?? '';
    const rules = [`default-src 'none'`, `frame-ancestors 'none'`, `base-uri 'none'`, `form-action 'self'`];
    expect(policy.split('; ')).toEqual(expect.arrayContaining(rules));
    expect(policy).not.toMatch(/unsafe|\*/);
    const names = ['cache-control', 'referrer-policy', 'x-content-type-options'];
    expect(names.map((name) => headers.get(name))).toEqual(['no-store', 'same-origin', 'nosniff']);
  }
});

test.each(['/sign-in', '/sign-in/code', '/sign-in/forgot-password', '/sign-in/provider'])(
  'AUTH-24 a form of %s with a NUL character is 400',
  async (path) => {
    const stranger = openBrowser();
    const page = await stranger.open(path);
    for (const email of ['a\0@b.example', 'a@b\0.example']) {
      const fields = { csrf: fieldIn(page, 'csrf'), returnTo: '/', email, password: 'correct-horse-battery' };
      expect((await stranger.post(path, fields)).status).toBe(400);
    }
  },
);
