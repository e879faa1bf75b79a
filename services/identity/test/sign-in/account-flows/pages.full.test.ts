import { type Browser, describeWith, launchBrowser, type Page } from '@platform/testing';
import { codeIn, linkIn, newPassword, password, type Platform, startPlatform } from './platform.js';

describeWith('chromium', 'the sign-in pages in a browser', () => {
  let platform: Platform;
  let browser: Browser;
  let page: Page;
  const faults: string[] = [];

  beforeAll(async () => {
    platform = await startPlatform();
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await platform.close();
  });
  beforeEach(async () => {
    page = await (await browser.newContext()).newPage();
    // Violations of the content security policy are reported there. The path `/` is not identity's here.
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().includes('404')) faults.push(message.text());
    });
    faults.length = 0;
  });
  afterEach(() => page.context().close());

  const open = (path: string) => page.goto(platform.identity.url + path);
  /** Opens a mailed link with the port of this identity. */
  const openLink = ({ pathname, search, hash }: URL) => open(pathname + search + hash);
  const press = (name: string | RegExp) => page.getByRole('button', { name }).click();
  const arriveAt = (path: string) => page.waitForURL(platform.identity.url + path);
  /** Calls the API as a script of another page of this origin does. The policy of that page allows it. */
  async function callApi(path: string) {
    const other = await page.context().newPage();
    await other.goto(`${platform.identity.url}/docs/`);
    // A string, because the types of these tests know no document.
    const answer = await other.evaluate<{ status: number; cookies: string; body: unknown }>(`(async () => {
      const token = /platform_csrf=([^;]+)/.exec(document.cookie)?.[1] ?? '';
      const response = await fetch('${path}', { headers: { 'x-csrf-token': token } });
      return { status: response.status, cookies: document.cookie, body: await response.json() };
    })()`);
    await other.close();
    return answer;
  }

  test('a person signs in with the password, calls the API by cookie, and signs out', async () => {
    const { email } = await platform.createUser();
    await open('/sign-in?returnTo=%2Fhealth%2Flive');
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password').fill('wrong-password');
    await press('Sign in');
    await page.getByRole('alert').getByText('Invalid e-mail or password').waitFor();
    await page.getByLabel('Password').fill(password);
    await press('Sign in');
    await arriveAt('/health/live');
    const { status, cookies, body } = await callApi('/api/v1/users/me');
    expect([status, body]).toMatchObject([200, { user: { email } }]);
    expect(cookies).not.toContain('platform_session');
    await open('/sign-out');
    await page.getByText(email).waitFor();
    await press('Sign out');
    await page.getByText('You are signed out').waitFor();
    expect((await page.context().cookies()).map(({ name }) => name)).toEqual(['platform_browser']);
    expect(faults.filter((text) => !text.includes('401'))).toEqual([]);
  });

  test('a person signs in with a mailed code', async () => {
    const { email } = await platform.createUser();
    await open('/sign-in?returnTo=%2Fhealth%2Flive');
    await page.getByRole('link', { name: 'E-mail me a code' }).click();
    await page.getByLabel('E-mail address').fill(email);
    await press('E-mail me a code');
    await page.getByLabel('Code').fill(codeIn(await platform.mailTo(email, /sign-in code/)));
    await press('Sign in');
    await arriveAt('/health/live');
    expect((await callApi('/api/v1/users/me')).status).toBe(200);
    expect(faults).toEqual([]);
  });

  test('the invitation page shows the account and its organisation, clears the address bar, takes a name and a password, and signs in', async () => {
    const { email } = await platform.createUser({});
    const link = linkIn(await platform.mailTo(email, /invited/));
    expect([link.pathname, link.search]).toEqual(['/sign-in/invite', '']);
    await openLink(link);
    await page.getByText(email).waitFor();
    expect(new URL(page.url()).hash).toBe('');
    await page.getByText('Example', { exact: false }).first().waitFor();
    expect(await page.getByLabel('Your name').inputValue()).toBe('Ada Example');
    await page.locator('#password').fill(password);
    await page.getByLabel('Show the password').check();
    expect(await page.locator('#password').getAttribute('type')).toBe('text');
    await press('Accept the invitation');
    await arriveAt('/');
    expect((await callApi('/api/v1/users/me')).body).toMatchObject({ user: { email } });
    expect((await platform.post('login', { email, password })).status).toBe(200);
    expect(faults).toEqual([]);
  });

  test('the mailed link opens the reset page, which changes the password', async () => {
    const { email } = await platform.createUser();
    await open('/sign-in/forgot-password');
    await page.getByLabel('E-mail address').fill(email);
    await press('E-mail me a link');
    await page.getByText('is on its way').waitFor();
    const { pathname, hash } = linkIn(await platform.mailTo(email, /Choose a new password/));
    await open(pathname + hash);
    await page.getByText(email).waitFor();
    await page.locator('#password').fill(newPassword);
    await press('Change the password');
    await page.getByText('Your password is changed').waitFor();
    expect((await platform.post('login', { email, password: newPassword })).status).toBe(200);
    expect(faults).toEqual([]);
  });

  test.each([
    ['no token', ''],
    ['a token in the query', '?token=x'],
  ])('a link with %s leads to a form for the link', async (_what, suffix) => {
    await open(`/sign-in/reset-password${suffix}`);
    await page.getByLabel('The link from the e-mail').waitFor();
    expect(faults).toEqual([]);
  });

  test('an invalid link shows an error', async () => {
    await open('/sign-in/reset-password#token=x');
    await page.getByText('does not work any more').waitFor();
    expect(await page.getByLabel('The link from the e-mail').isVisible()).toBe(true);
  });

  test('all pages work without JavaScript, by pasting the link', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const plain = await context.newPage();
    const { email } = await platform.createUser();
    await platform.post('password/forgot', { email });
    const link = linkIn(await platform.mailTo(email, /Choose a new password/));
    await plain.goto(`${platform.identity.url}/sign-in/reset-password`);
    await plain.getByLabel('The link from the e-mail').fill(link.href);
    await plain.getByRole('button').click();
    await plain.locator('#password').fill(newPassword);
    await plain.getByRole('button').click();
    await plain.getByRole('link', { name: 'Sign in' }).click();
    await plain.getByLabel('E-mail address').fill(email);
    await plain.getByLabel('Password').fill(newPassword);
    await plain.getByRole('button').click();
    await plain.waitForURL(`${platform.identity.url}/`);
    expect((await context.cookies()).map(({ name }) => name)).toContain('platform_session');
    await context.close();
  });
});
