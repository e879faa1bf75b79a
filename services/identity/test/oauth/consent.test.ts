import { admin } from '../identity.js';
import { startWithApplication } from './connected-application.js';
import {
  type Browser,
  createAuthorization,
  createBrowser,
  exchangeCode,
  openConsent,
  refresh,
} from './flow.js';

let browser: Browser;
const running = await startWithApplication();
const { identity, clientId } = running;
afterAll(() => running.close());
beforeEach(async () => {
  browser = createBrowser(identity);
  await browser.signIn();
});

/** Starts an authorization. @returns it, with the address of its consent page. */
async function start(tab = browser, fields = {}) {
  const authorization = createAuthorization(clientId, fields);
  return { authorization, page: tab.getLocation(await tab.get(authorization.url)) };
}

/** Follows an answer of the consent page back to the application. @returns the parameters that it gets. */
async function resume(answer: Awaited<ReturnType<Browser['post']>>): Promise<URLSearchParams> {
  return new URL(browser.getLocation(await browser.get(browser.getLocation(answer)))).searchParams;
}

test('the consent page shows the client, its redirect, each scope and the expiry, and cannot be framed', async () => {
  const { page } = await openConsent(browser, createAuthorization(clientId));
  for (const text of ['Desk agent', '127.0.0.1:33418', '<code>crawl:read</code>', 'admin@example.com'])
    expect(page.text).toContain(text);
  expect(page.text).toMatch(/ends on\s+\d+ \w+ 20\d\d/);
  const policy = page.headers.get('content-security-policy');
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("form-action 'self' http://127.0.0.1:33418");
  expect(page.text).not.toContain('<script');
});

test('only the scopes that the person ticks are granted, and a refresh gets no more', async () => {
  const { answer, refreshToken } = await running.connect({ scope: 'user:read' });
  expect(answer.body.scope).toBe('user:read');
  const refreshed = await refresh(identity, clientId, refreshToken);
  expect([refreshed.status, refreshed.body.scope]).toEqual([200, 'user:read']);
});

test('OAUTH-3: an application that requests more scopes than it has gets the scopes it has', async () => {
  const asked = { scope: 'user:read kb:read crawl:read crawl:delete' };
  const { page } = await openConsent(browser, createAuthorization(clientId, asked));
  expect(page.text).toContain('<code>crawl:read</code>');
  expect(page.text).not.toMatch(/kb:read|crawl:delete/);
  // A form that claims more changes nothing.
  const { answer } = await running.connect({ scope: ['user:read', 'kb:read', 'crawl:delete'] }, asked);
  expect([answer.status, answer.body.scope]).toEqual([200, 'user:read']);
});

test('OAUTH-3: a member is not asked for what only administrators can use', async () => {
  const member = await identity.createMember(await identity.login());
  const other = createBrowser(identity);
  await other.signIn(member);
  const { page } = await openConsent(other, createAuthorization(clientId, { scope: 'user:read crawl:read' }));
  expect(page.text).toContain('<code>user:read</code>');
  expect(page.text).not.toContain('crawl:read');
});

test('a browser that is not signed in goes to the sign-in page and comes back', async () => {
  const other = createBrowser(identity);
  const { page } = await start(other);
  const sent = await other.get(page);
  const signIn = `/sign-in?returnTo=${encodeURIComponent(page)}`;
  expect([sent.status, other.getLocation(sent)]).toEqual([303, signIn]);
  await other.signIn();
  expect((await other.get(page)).status).toBe(200);
});

test('a consent page cannot be opened in another browser', async () => {
  const { page } = await start();
  const other = createBrowser(identity);
  await other.signIn();
  expect((await other.get(page)).status).toBe(400);
});

/* AUTH-57: whoever finds a browser open must not give an application power that outlasts the session. */

const TEN_MINUTES = 10 * 60_000;
const CONFIRM = '/sign-in/confirm';

const toUnconfirmed = (page: string): string => `${page}${page.includes('?') ? '&' : '?'}unconfirmed=yes`;
const toConfirm = (returnTo: string): string =>
  `${CONFIRM}?${new URLSearchParams({ returnTo, requestPage: toUnconfirmed(returnTo) }).toString()}`;

async function countGrants(): Promise<number> {
  return (await identity.db.query('select from oauth_grants')).rowCount ?? 0;
}

/** Enters the password on the page that asks for it. @returns where it leads. */
async function confirm(address: string, password = admin.password) {
  const page = await browser.get(address);
  expect([page.status, page.text]).toEqual([200, expect.stringContaining('Confirm that it is you')]);
  const returnTo = new URL(address, identity.url).searchParams.get('returnTo') ?? '';
  const answer = await browser.post(CONFIRM, { csrf: browser.getFormToken(page), returnTo, password });
  return { status: answer.status, location: browser.getLocation(answer) };
}

/** Opens a consent page and leaves it open for ten minutes. @returns a function that answers it. */
async function leaveOpen() {
  const { path, csrf } = await openConsent(browser, createAuthorization(clientId));
  identity.advance(TEN_MINUTES);
  const answer = (decision: 'allow' | 'deny', scope = ['user:read']) =>
    browser.post(path, { csrf, decision, scope });
  return { page: path, answer };
}

test('AUTH-57 a browser left open asks for the password before the consent page, and comes back to it', async () => {
  identity.advance(TEN_MINUTES);
  const { authorization, page } = await start();
  const sent = await browser.get(page);
  expect([sent.status, browser.getLocation(sent)]).toEqual([303, toConfirm(page)]);
  expect(await confirm(toConfirm(page), 'wrong')).toEqual({ status: 400, location: '' });
  expect((await browser.get(page)).status).toBe(303);
  expect(await confirm(toConfirm(page))).toEqual({ status: 303, location: page });

  const csrf = browser.getFormToken(await browser.get(page));
  const target = await resume(await browser.post(page, { csrf, decision: 'allow', scope: 'user:read' }));
  expect((await exchangeCode(identity, authorization, target.get('code') ?? '')).status).toBe(200);
});

test('AUTH-57 a consent page left open allows nothing until the password was entered, and stays ticked as it was', async () => {
  const before = await countGrants();
  const { page, answer } = await leaveOpen();
  const sent = await answer('allow');
  const back = `${page}?ticked=user%3Aread`;
  expect([sent.status, browser.getLocation(sent)]).toEqual([303, toConfirm(back)]);
  expect(await countGrants()).toBe(before);

  expect(await confirm(toConfirm(back))).toEqual({ status: 303, location: back });
  const shown = await browser.get(back);
  expect(shown.text).toMatch(/value="user:read"\s+checked/);
  expect(shown.text).not.toMatch(/value="crawl:read"\s+checked/);
  const form = { csrf: browser.getFormToken(shown), decision: 'allow', scope: 'user:read' };
  // Sent twice, it makes one connection (OAUTH-13).
  const [first, second] = [await browser.post(back, form), await browser.post(back, form)].map(
    browser.getLocation,
  );
  expect([first, second]).toEqual([expect.stringContaining('/oauth2/authorize/'), first]);
  expect(await countGrants()).toBe(before + 1);
});

test.each([
  ['deny', ['user:read']],
  ['allow', []],
] as const)('AUTH-57 a consent page left open needs no password for: %s %j', async (decision, scope) => {
  const before = await countGrants();
  const { answer } = await leaveOpen();
  expect((await resume(await answer(decision, [...scope]))).get('error')).toBe('access_denied');
  expect(await countGrants()).toBe(before);
});

test('AUTH-57 who is asked for the password may see the request first, and deny it without', async () => {
  identity.advance(TEN_MINUTES);
  const before = await countGrants();
  const { page } = await start();
  const asked = await browser.get(browser.getLocation(await browser.get(page)));
  const csrfOfForm = browser.getFormToken(asked);
  const wrong = { csrf: csrfOfForm, returnTo: page, requestPage: toUnconfirmed(page), password: 'wrong' };
  for (const { text } of [asked, await browser.post(CONFIRM, wrong)])
    expect(text).toContain(`<a href="${toUnconfirmed(page)}">See the request first</a>`);

  const csrf = browser.getFormToken(await browser.get(toUnconfirmed(page)));
  const allow = { csrf, decision: 'allow', scope: 'user:read' };
  const allowed = await browser.post(toUnconfirmed(page), allow);
  expect(browser.getLocation(allowed)).toBe(toConfirm(`${page}?ticked=user%3Aread`));
  const denied = await browser.post(toUnconfirmed(page), { csrf, decision: 'deny' });
  expect((await resume(denied)).get('error')).toBe('access_denied');
  expect(await countGrants()).toBe(before);
});

test('AUTH-57 a consent that was allowed in time leads on when its form is sent again later', async () => {
  const { path, csrf } = await openConsent(browser, createAuthorization(clientId));
  const allow = () => browser.post(path, { csrf, decision: 'allow', scope: 'user:read' });
  const first = browser.getLocation(await allow());
  identity.advance(TEN_MINUTES);
  expect(browser.getLocation(await allow())).toBe(first);
});

test('AUTH-57 one confirmation serves two tabs, and each comes back to its own application', async () => {
  identity.advance(TEN_MINUTES);
  // A browser sends the cookie of an interaction below its path only, so each tab has its own.
  const tab = createBrowser(identity, undefined, new Map(browser.cookies));
  const [one, two] = [await start(), await start(tab)];
  expect((await browser.get(one.page)).status).toBe(303);
  expect((await tab.get(two.page)).status).toBe(303);
  const openForm = await tab.get(toConfirm(two.page));
  expect(await confirm(toConfirm(one.page))).toEqual({ status: 303, location: one.page });
  // The form of the other tab is opened again, or sent all the same.
  expect((await tab.get(toConfirm(two.page))).text).toContain(`<a href="${two.page}">Continue</a>`);
  const fields = { csrf: tab.getFormToken(openForm), returnTo: two.page, password: admin.password };
  expect(tab.getLocation(await tab.post(CONFIRM, fields))).toBe(two.page);
  expect((await browser.get(one.page)).status).toBe(200);
  expect((await tab.get(two.page)).status).toBe(200);
});

test('AUTH-57 a request that has expired says so instead of asking for the password', async () => {
  const { page, answer } = await leaveOpen();
  await identity.db.query(
    `update oauth_artifacts set payload = payload || '{"exp": 1}' where model = 'Interaction'`,
  );
  for (const { status, text } of [await browser.get(page), await answer('allow')])
    expect([status, text]).toEqual([400, expect.stringContaining('Start again from the application')]);
});

test.each(['//evil.example/oauth2/consent/x', '/.//evil.example', '/\\evil.example'])(
  'AUTH-57 the page that asks for the password does not lead to %s',
  async (returnTo) => {
    identity.advance(TEN_MINUTES);
    const query = new URLSearchParams({ requestPage: returnTo }).toString();
    expect((await browser.get(`${CONFIRM}?${query}`)).text).not.toContain('evil.example');
    expect(await confirm(toConfirm(returnTo))).toEqual({ status: 303, location: '/' });
  },
);

test('AUTH-57 a form whose session has ended comes back from the sign-in ticked as it was', async () => {
  const { page } = await start();
  const other = createBrowser(identity, undefined, new Map(browser.cookies));
  for (const name of other.cookies.keys()) if (name.includes('platform_session')) other.cookies.delete(name);
  const csrf = other.getFormToken(await other.get('/sign-in'));
  const sent = await other.post(page, { csrf, decision: 'allow', scope: ['crawl:read', 'user:read'] });
  const returnTo = `${page}?ticked=crawl%3Aread+user%3Aread`;
  expect(other.getLocation(sent)).toBe(`/sign-in?${new URLSearchParams({ returnTo }).toString()}`);
});
