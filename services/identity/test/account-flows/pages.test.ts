import { type Browser, describeWith, launchBrowser, type Page } from '@platform/testing';
import { linkIn, newPassword, password, type Platform, startPlatform } from './platform.js';

describeWith('chromium', 'the account pages in a browser', () => {
  let platform: Platform;
  let browser: Browser;
  let page: Page;
  const faults: string[] = [];

  beforeAll(async () => {
    platform = await startPlatform();
    browser = await launchBrowser();
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await platform.close();
  });
  beforeEach(async () => {
    page = await browser.newPage();
    // Violations of the content security policy are reported there.
    page.on('console', (message) => void (message.type() === 'error' && faults.push(message.text())));
    faults.length = 0;
  });
  afterEach(() => page.close());

  /** Returns the mailed link with the port of this identity. */
  async function open(mailed: URL): Promise<void> {
    await page.goto(`${platform.identity.url}${mailed.pathname}${mailed.search}${mailed.hash}`);
  }

  test('the invitation page shows the account and its organisation, clears the address bar, and takes a name and a password', async () => {
    const { email } = await platform.createUser({});
    const link = linkIn(await platform.mailTo(email, /invited/));
    await open(link);
    await page.getByText(email).waitFor();
    expect([link.search, new URL(page.url()).hash]).toEqual(['', '']);
    expect(await page.getByLabel('Your name').inputValue()).toBe('Ada Example');
    await page.getByLabel('Password', { exact: false }).first().fill(password);
    await page.getByLabel('Show the password').check();
    expect(await page.locator('#password').getAttribute('type')).toBe('text');
    await page.getByRole('button').click();
    await page.getByText('Welcome: your account is ready').waitFor();
    expect((await platform.post('login', { email, password })).status).toBe(200);
    expect(faults).toEqual([]);
  });

  test('the reset page changes the password', async () => {
    const { email } = await platform.createUser();
    await platform.post('password/forgot', { email });
    await open(linkIn(await platform.mailTo(email, /Choose a new password/)));
    await page.getByText(email).waitFor();
    await page.locator('#password').fill(newPassword);
    await page.getByRole('button').click();
    await page.getByText('Your password is changed').waitFor();
    expect((await platform.post('login', { email, password: newPassword })).status).toBe(200);
    expect(faults).toEqual([]);
  });

  test.each([
    ['no token', '', /no link in it/],
    ['a token in the query', '?token=x', /no link in it/],
    ['a token that does not work', '#token=x', /does not work any more/],
  ])('a page with %s says so and shows no form', async (_what, suffix, expected) => {
    await page.goto(`${platform.identity.url}/api/v1/auth/reset-password${suffix}`);
    await page.getByText(expected).waitFor();
    expect(await page.locator('form').isVisible()).toBe(false);
  });
});
