import { describeWith } from '@platform/testing';
import { useConsole } from './console.js';
import { SCREENS } from './screen-list.js';

const UNKNOWN = '01900000-0000-7000-8000-000000000000';
const ADMINISTRATION = /^\/(activity|crawls|mails|organisation)/;
/** Screens that are reached from others. */
const DETAILS = [
  `/crawls/connectors/wiki_1/runs/${UNKNOWN}`,
  `/mails/${UNKNOWN}`,
  `/organisation/applications/${UNKNOWN}`,
  `/organisation/service-accounts/${UNKNOWN}`,
  `/organisation/mcp-servers/${UNKNOWN}`,
  `/activity/destinations/${UNKNOWN}`,
];

describeWith('chromium', 'the addresses of the console', () => {
  const using = useConsole();

  test('each address of administrators says to a member that it is for administrators, and loads nothing', async () => {
    const member = await using.platform.createMember('Mary Member');
    const page = await using.open('/account', { as: member });
    const links = await page.getByRole('navigation').getByRole('link').allTextContents();
    expect(links).toContain('Tokens');
    expect(links).not.toContain('Crawls');
    expect(links).not.toContain('Members');
    await page.waitForLoadState('networkidle');
    const requested: string[] = [];
    page.on('request', (request) => requested.push(new URL(request.url()).pathname));
    const paths = [...SCREENS.map(([path]) => path).filter((path) => ADMINISTRATION.test(path)), ...DETAILS];
    for (const path of paths) {
      await page.goto(using.platform.url + path);
      await page.getByRole('heading', { level: 1, name: 'For administrators' }).waitFor();
      // What a screen reads is requested as it is rendered, and before the browser is idle.
      await page.evaluate('new Promise((resolve) => requestIdleCallback(resolve))');
      const loaded = requested.filter((one) => one.startsWith('/api/') && !one.endsWith('/users/me'));
      expect([path, loaded]).toEqual([path, []]);
    }
  });

  test.each([
    `/account/tokens/${UNKNOWN}`,
    ...DETAILS,
    '/organisation/applications/abc',
    '/crawls/connectors/nothing',
    '/crawls/connectors/a%20b%C3%A9',
    '/account/nowhere',
  ])('UI-8 %s names nothing, is not found, and shows nothing else', async (path) => {
    using.allowFaults(/40[04]/);
    const page = await using.open(path);
    const main = page.getByRole('main');
    await main.getByRole('heading', { level: 1, name: 'Not found', exact: true }).waitFor();
    expect(await main.getByRole('heading').count()).toBe(1);
    expect(await main.getByRole('alert').count()).toBe(0);
    expect(await page.title()).toMatch(/^Not found/);
  });

  test('UI-13 an unknown address at the root is a page in a browser', async () => {
    using.allowFaults(/404/);
    const page = await using.open('/');
    await page.goto(`${using.platform.url}/nowhere/at/all`);
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
    await page.getByRole('link', { name: 'Open the console' }).click();
    await page.locator('main h1').waitFor();
  });

  test('whoever is not signed in is sent to the sign-in without a failed request', async () => {
    const page = await using.open('/');
    // Requests of the page that are still under way must not fail without the cookie.
    await page.goto('about:blank');
    await page.context().clearCookies();
    await page.goto(`${using.platform.url}/activity/audit?q=x`);
    await page.getByLabel('E-mail').waitFor();
    expect(page.url()).toContain('returnTo=%2Factivity%2Faudit%3Fq%3Dx');
    const faces =
      'document.fonts.ready.then((all) => [...all].map(({ family, status }) => [family, status]))';
    expect(await page.evaluate(faces)).toEqual([
      ['Inter Variable', 'loaded'],
      // No code is shown.
      ['JetBrains Mono Variable', 'unloaded'],
    ]);
  });

  test('while a service is unavailable, its screens say so instead of showing an empty list, and a retry shows them', async () => {
    using.allowFaults(/503|Failed to load/);
    const page = await using.open('/account/tokens');
    // As the gateway answers for a service that doesn't.
    await page.route('**/api/v1/**', (route) =>
      route.request().url().endsWith('/users/me')
        ? route.continue()
        : route.fulfill({ status: 503, json: { error: { code: 'SERVICE_UNAVAILABLE', message: 'x' } } }),
    );
    for (const path of [...DETAILS, '/mails/smtp', '/mails/templates', '/organisation/members', '/crawls']) {
      await page.goto(using.platform.url + path);
      await page.getByRole('alert').getByText('The service is not available').first().waitFor();
      await page.getByRole('button', { name: 'Try again' }).first().waitFor();
    }
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).first().click();
    await page.getByText('Nothing is scheduled').waitFor();
  });

  test('a list that cannot be reached says that nothing was changed', async () => {
    using.allowFaults(/ERR_FAILED/);
    const page = await using.open('/');
    await page.route('**/api/v1/audit**', (route) => route.abort());
    await page.goto(`${using.platform.url}/activity/audit`);
    await page.getByText('can’t be reached').waitFor();
    expect(await page.getByText('unknown whether').count()).toBe(0);
  });

  // Last, because it ends the session of the tests.
  test('signing out ends the session', async () => {
    const page = await using.open('/account/tokens');
    const cookies = await page.context().cookies();
    await page.getByRole('button', { name: /^Signed in as/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL(/\/sign-in/);
    await page.context().addCookies(cookies);
    using.allowFaults(/401/);
    await page.goto(`${using.platform.url}/account/tokens`);
    await page.waitForURL(/\/sign-in/);
  });
});
