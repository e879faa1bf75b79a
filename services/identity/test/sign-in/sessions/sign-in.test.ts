import { toDigest } from '@platform/auth';
import { createHttpBrowser, fieldIn } from '../../browser.js';
import { admin, startIdentity } from '../../identity.js';

const DAY_SECONDS = 86_400;

const identity = await startIdentity();
afterAll(() => identity.close());

const ME = '/api/v1/users/me';
const openBrowser = () => createHttpBrowser(identity.url);

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
}); // prettier-ignore

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
}); // prettier-ignore

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
  expect(unknown.text.replaceAll('nobody@example.com', admin.email)).toBe(wrong.text);
  expect(browser.cookies.has('platform_session')).toBe(false);
});

test('AUTH-20 the sign-out page and the API end a session by cookie at once', async () => {
  const browser = openBrowser();
  await browser.signIn(admin);
  const session = browser.cookies.get('platform_session') ?? '';
  const page = await browser.open('/sign-out');
  expect(page.text).toContain(admin.email);
  expect((await browser.post('/sign-out', { csrf: fieldIn(page, 'csrf') })).status).toBe(303);
  expect([...browser.cookies.keys()]).toEqual(['platform_browser']);
  expect((await identity.call('GET', ME, { token: session })).status).toBe(401);
  expect((await browser.open('/sign-out')).text).toContain('You are signed out');

  await browser.signIn(admin);
  expect((await browser.call('POST', '/api/v1/auth/logout')).status).toBe(204);
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

test('AUTH-21 signing in again replaces the session of the browser', async () => {
  const browser = openBrowser();
  await browser.signIn(admin);
  const first = browser.cookies.get('platform_session') ?? '';
  await browser.signIn(admin);
  expect(browser.cookies.get('platform_session')).not.toBe(first);
  expect((await identity.call('GET', ME, { token: first })).status).toBe(401);
  expect((await browser.call('GET', ME)).status).toBe(200);
});

test('a session by cookie ends with its owner, and after 24 hours', async () => {
  const session = await identity.login();
  const member = await identity.createMember(session);
  const browser = openBrowser();
  await browser.signIn(member);
  expect((await browser.call('GET', ME)).status).toBe(200);
  await identity.call('DELETE', `/api/v1/users/${member.id}`, { token: session });
  expect((await browser.call('GET', ME)).status).toBe(401);
  expect((await browser.open('/sign-in')).status).toBe(200);

  const late = openBrowser();
  await late.signIn(admin);
  identity.advance(DAY_SECONDS * 1_000);
  expect((await late.call('GET', ME)).status).toBe(401);
});
