import { admin } from '../identity.js';
import { startWithApplication } from './connected-application.js';
import { type Browser, consentAt, createAuthorization, createBrowser, exchangeCode } from './flow.js';

/*
 * Whoever finds a browser open must not give an application power that outlasts the session.
 */

const TEN_MINUTES = 10 * 60_000;
const CONFIRM = '/sign-in/confirm';

let browser: Browser;
const running = await startWithApplication();
const { identity } = running;
afterAll(() => running.close());
beforeEach(async () => {
  browser = createBrowser(identity);
  await browser.signIn();
});

const toUnconfirmed = (page: string): string => `${page}${page.includes('?') ? '&' : '?'}unconfirmed=yes`;
const toConfirm = (returnTo: string): string =>
  `${CONFIRM}?${new URLSearchParams({ returnTo, requestPage: toUnconfirmed(returnTo) }).toString()}`;

async function countGrants(): Promise<number> {
  const { rows } = await identity.db.query<{ count: number }>('select count(*)::int from oauth_grants');
  return rows[0]?.count ?? 0;
}

/** Starts an authorization. @returns it, with the address of its consent page. */
async function start(tab = browser) {
  const authorization = createAuthorization(running.clientId);
  return { authorization, page: tab.getLocation(await tab.get(authorization.url)) };
}

/** Enters the password on the page that asks for it. @returns where it leads. */
async function confirm(address: string, password = admin.password) {
  const page = await browser.get(address);
  expect([page.status, page.text]).toEqual([200, expect.stringContaining('Confirm that it is you')]);
  const returnTo = new URL(address, identity.url).searchParams.get('returnTo') ?? '';
  const answer = await browser.post(CONFIRM, { csrf: browser.getFormToken(page), returnTo, password });
  return { status: answer.status, location: browser.getLocation(answer) };
}

/** Opens a consent page and leaves it open for ten minutes. @returns functions that answer it. */
async function leaveOpen() {
  const { authorization, page } = await start();
  const csrf = browser.getFormToken(await browser.get(page));
  identity.advance(TEN_MINUTES);
  const answer = (decision: 'allow' | 'deny', scope: string[] = ['user:read']) =>
    browser.post(page, { csrf, decision, scope });
  return { authorization, page, answer };
}

test('AUTH-41 a browser left open asks for the password before the consent page, and comes back to it', async () => {
  identity.advance(TEN_MINUTES);
  const { authorization, page } = await start();
  const sent = await browser.get(page);
  expect([sent.status, browser.getLocation(sent)]).toEqual([303, toConfirm(page)]);
  expect(await confirm(toConfirm(page), 'wrong')).toEqual({ status: 400, location: '' });
  expect((await browser.get(page)).status).toBe(303);
  expect(await confirm(toConfirm(page))).toEqual({ status: 303, location: page });

  const shown = await browser.get(page);
  const form = { csrf: browser.getFormToken(shown), decision: 'allow', scope: ['user:read', 'crawl:read'] };
  const answered = await browser.post(page, form);
  const resumed = await browser.get(browser.getLocation(answered));
  const code = new URL(browser.getLocation(resumed)).searchParams.get('code') ?? '';
  expect((await exchangeCode(identity, authorization, code)).status).toBe(200);
});

test('AUTH-41 a consent page left open allows nothing until the password was entered, and stays ticked as it was', async () => {
  const before = await countGrants();
  const { page, answer } = await leaveOpen();
  const sent = await answer('allow', ['user:read']);
  const back = `${page}?ticked=user%3Aread`;
  expect([sent.status, browser.getLocation(sent)]).toEqual([303, toConfirm(back)]);
  expect(await countGrants()).toBe(before);

  expect(await confirm(toConfirm(back))).toEqual({ status: 303, location: back });
  const shown = await browser.get(back);
  expect(shown.text).toMatch(/value="user:read"\s+checked/);
  expect(shown.text).not.toMatch(/value="crawl:read"\s+checked/);
  const form = { csrf: browser.getFormToken(shown), decision: 'allow', scope: 'user:read' };
  // Sent twice, it makes one connection (OAUTH-13).
  const answers = [await browser.post(back, form), await browser.post(back, form)];
  const [first, second] = answers.map(browser.getLocation);
  expect([first, second]).toEqual([expect.stringContaining('/oauth2/authorize/'), first]);
  expect(await countGrants()).toBe(before + 1);
});

test('AUTH-41 a consent page left open is denied without the password, also by ticking nothing', async () => {
  const before = await countGrants();
  for (const [decision, scope] of [['deny', ['user:read']], ['allow', []]] as const) {
    const { answer } = await leaveOpen();
    const resumed = await browser.get(browser.getLocation(await answer(decision, [...scope])));
    expect(new URL(browser.getLocation(resumed)).searchParams.get('error')).toBe('access_denied');
    browser = createBrowser(identity);
    await browser.signIn();
  }
  expect(await countGrants()).toBe(before);
}); // prettier-ignore

test('AUTH-41 who is asked for the password may see the request first, and deny it without', async () => {
  identity.advance(TEN_MINUTES);
  const before = await countGrants();
  const { page } = await start();
  const asked = await browser.get(browser.getLocation(await browser.get(page)));
  const wrong = { csrf: browser.getFormToken(asked), returnTo: page, requestPage: toUnconfirmed(page), password: 'wrong' };
  for (const { text } of [asked, await browser.post(CONFIRM, wrong)])
    expect(text).toContain(`<a href="${toUnconfirmed(page)}">See the request first</a>`);

  const shown = await browser.get(toUnconfirmed(page));
  const csrf = browser.getFormToken(shown);
  const allowed = await browser.post(toUnconfirmed(page), { csrf, decision: 'allow', scope: 'user:read' });
  const ticked = `${page}?ticked=user%3Aread`;
  expect(browser.getLocation(allowed)).toBe(toConfirm(ticked));
  const again = await browser.get(toUnconfirmed(ticked));
  expect(again.text).toMatch(/value="user:read"\s+checked/);
  expect(again.text).not.toMatch(/value="crawl:read"\s+checked/);
  const denied = await browser.post(toUnconfirmed(page), { csrf, decision: 'deny' });
  const resumed = await browser.get(browser.getLocation(denied));
  expect(new URL(browser.getLocation(resumed)).searchParams.get('error')).toBe('access_denied');
  expect(await countGrants()).toBe(before);
}); // prettier-ignore

test('AUTH-41 a consent that was allowed in time leads on when its form is sent again later', async () => {
  const { page } = await start();
  const csrf = browser.getFormToken(await browser.get(page));
  const allow = () => browser.post(page, { csrf, decision: 'allow', scope: 'user:read' });
  const first = browser.getLocation(await allow());
  identity.advance(TEN_MINUTES);
  expect(browser.getLocation(await allow())).toBe(first);
});

test('AUTH-41 one confirmation serves two tabs, and each comes back to its own application', async () => {
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

test('AUTH-41 a request that has expired says so instead of asking for the password', async () => {
  const { page, answer } = await leaveOpen();
  await identity.db.query(
    `update oauth_artifacts set payload = payload || '{"exp": 1}' where model = 'Interaction'`,
  );
  for (const { status, text } of [await browser.get(page), await answer('allow')])
    expect([status, text]).toEqual([400, expect.stringContaining('Start again from the application')]);
});

test('AUTH-41 the page that asks for the password leads to no other site', async () => {
  for (const returnTo of ['//evil.example/oauth2/consent/x', '/.//evil.example', 'https://evil.example', '/\\evil.example']) {
    identity.advance(TEN_MINUTES);
    const { text } = await browser.get(`${CONFIRM}?${new URLSearchParams({ requestPage: returnTo }).toString()}`);
    expect(text).not.toContain('evil.example');
    expect(await confirm(toConfirm(returnTo))).toEqual({ status: 303, location: '/' });
  }
}); // prettier-ignore

test('AUTH-41 a form whose session has ended comes back from the sign-in ticked as it was', async () => {
  const { page } = await start();
  const other = createBrowser(identity, undefined, new Map(browser.cookies));
  for (const name of other.cookies.keys()) if (name.includes('platform_session')) other.cookies.delete(name);
  const signIn = await other.get('/sign-in');
  const csrf = other.getFormToken(signIn);
  const sent = await other.post(page, { csrf, decision: 'allow', scope: ['crawl:read', 'user:read'] });
  const returnTo = `${page}?ticked=crawl%3Aread+user%3Aread`;
  expect(other.getLocation(sent)).toBe(`/sign-in?${new URLSearchParams({ returnTo }).toString()}`);
});

test('AUTH-41 who has just signed in sees nothing new', async () => {
  const { url } = createAuthorization(running.clientId);
  expect((await consentAt(browser, url)).searchParams.has('code')).toBe(true);
});
