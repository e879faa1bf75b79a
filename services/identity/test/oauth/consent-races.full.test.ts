import { startReplica } from '../replica.js';
import { startWithApplication } from './connected-application.js';
import { createAuthorization, createBrowser, exchangeCode } from './flow.js';

/*
 * A person answers a consent page once, however often the form reaches which replica.
 */

/** The same browser, whose requests reach the other replica. */

const running = await startWithApplication();
const { identity, browser } = running;
const replica = await startReplica(identity.databaseUrl);
const atReplica = createBrowser({ ...identity, url: replica.url }, undefined, browser.cookies);
afterAll(async () => {
  await replica.close();
  await running.close();
});

/** Opens a consent page. @returns functions that answer it at either replica. */
async function openConsent() {
  const authorization = createAuthorization(running.clientId);
  const page = browser.getLocation(await browser.get(authorization.url));
  const form = { csrf: browser.getFormToken(await browser.get(page)), scope: ['user:read', 'crawl:read'] };
  const answer = (decision: 'allow' | 'deny', at = browser) => at.post(page, { ...form, decision });
  return { authorization, answer };
}

async function countGrants(): Promise<number> {
  const { rows } = await identity.db.query<{ count: number }>('select count(*)::int from oauth_grants');
  return rows[0]?.count ?? 0;
}

/** Goes back to the authorization server. @returns the parameters with which it sends the browser to the application. */
async function resume(location: string, at = browser): Promise<URLSearchParams> {
  const answer = await at.get(location);
  return new URL(at.getLocation(answer) || 'none:').searchParams;
}

test('OAUTH-13: a consent that reaches two replicas at once makes one connection, and both answers lead to it', async () => {
  for (let round = 0; round < 5; round += 1) {
    const before = await countGrants();
    const { authorization, answer } = await openConsent();
    const answers = await Promise.all([answer('allow'), answer('allow', atReplica)]);
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    const [first, second] = answers.map(browser.getLocation);
    expect(second).toBe(first);
    expect(await countGrants()).toBe(before + 1);
    const code = (await resume(second ?? '', atReplica)).get('code') ?? '';
    expect((await exchangeCode(identity, authorization, code)).status).toBe(200);
  }
});

test.each([
  ['allow', 'deny', 1],
  ['deny', 'allow', 0],
] as const)('OAUTH-13: the first answer counts: %s, then %s', async (earlier, later, grants) => {
  const before = await countGrants();
  const { answer } = await openConsent();
  const first = await answer(earlier);
  const second = await answer(later, atReplica);
  expect([second.status, browser.getLocation(second)]).toEqual([303, browser.getLocation(first)]);
  expect(await countGrants()).toBe(before + grants);
  const target = await resume(browser.getLocation(second));
  expect(target.has(earlier === 'allow' ? 'code' : 'error')).toBe(true);
});

test('OAUTH-13: a consent whose outcome has reached the application is answered with a page, and makes no connection', async () => {
  const { answer } = await openConsent();
  await resume(browser.getLocation(await answer('allow')));
  const before = await countGrants();
  const again = await answer('allow', atReplica);
  expect([again.status, again.text]).toEqual([
    400,
    expect.stringContaining('Start again from the application'),
  ]);
  expect(await countGrants()).toBe(before);
});

test('OAUTH-13: one consent gives one code when two replicas resume it at once', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { answer } = await openConsent();
    const location = browser.getLocation(await answer('allow'));
    const targets = await Promise.all([resume(location), resume(location, atReplica)]);
    expect(targets.filter((target) => target.has('code'))).toHaveLength(1);
  }
});
