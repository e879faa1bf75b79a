import { describeWith } from '@platform/testing';
import { useConsole } from './console.js';
import type { Person } from './platform.js';

const ID = '01900000-0000-7000-8000-000000000000';
const AWAY = [
  [
    'crawl',
    '**/api/v1/crawlingManager/**',
    [
      '/crawls/connectors/wiki_1',
      `/crawls/connectors/wiki_1/runs/${ID}`,
      '/crawls/queue',
      '/crawls/events',
      '/crawls',
    ],
  ],
  ['mail', '**/api/v1/mail/**', [`/mails/${ID}`, '/mails/templates', '/mails']],
  [
    'identity',
    '**/api/v1/**',
    ['/mails/smtp', '/organisation/audit', '/organisation/tokens', '/organisation/members'],
  ],
] as const;

describeWith('chromium', 'access to the console', () => {
  const using = useConsole();
  let member: Person;

  beforeAll(async () => {
    member = await using.platform.createMember('Mary Member');
  });

  test('a person who is not signed in is sent to the sign-in, and comes back', async () => {
    const page = await using.open('/account/tokens?q=x');
    await page.context().clearCookies();
    using.allowFaults(/401/);
    await page.goto(`${using.platform.url}/account/tokens?q=x`);
    await page.waitForURL(/\/sign-in\?returnTo=%2Faccount%2Ftokens%3Fq%3Dx/);
  });

  test('a member does not see administrators’ screens, and gets an explanation at their addresses', async () => {
    const page = await using.open('/crawls', { as: member });
    await page.getByRole('heading', { name: 'For administrators' }).waitFor();
    const links = await page.getByRole('navigation').getByRole('link').allTextContents();
    expect(links).toContain('Tokens');
    expect(links).not.toContain('Crawls');
    expect(links).not.toContain('Members');
  });

  test('keeps everything that was typed when the session ends', async () => {
    const page = await using.open('/account/tokens');
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('half typed');
    const cookies = await page.context().cookies();
    await page.context().clearCookies();
    using.allowFaults(/401/);
    await page.getByRole('button', { name: 'Create token' }).click();
    const dialog = page.getByRole('dialog', { name: 'New token' });
    await dialog.getByText('Your session has ended and nothing was changed.').waitFor();
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('half typed');
    await page.context().addCookies(cookies);
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByText('shown this once').waitFor();
  });

  test('renews a session that ends in a dialog or a form, and then sends what was typed', async () => {
    const page = await using.open('/organisation/members');
    using.allowFaults(/401/);
    await page.getByRole('button', { name: 'Invite a member' }).click();
    await page.getByLabel('E-mail address').fill('half@example.com');
    await page.getByLabel('Full name').fill('Half Typed');
    const cookies = await page.context().cookies();
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Send the invitation' }).click();
    await page.getByText('Your session has ended and nothing was changed.').last().waitFor();
    await page.context().addCookies(cookies);
    await page.getByRole('button', { name: 'Send the invitation' }).click();
    await page.getByRole('row', { name: /Half Typed/ }).waitFor();

    await page.goto(`${using.platform.url}/mails/smtp`);
    const sender = page.getByLabel('Sender address');
    await sender.fill('half@example.com');
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Your session has ended and nothing was changed.').last().waitFor();
    expect(await sender.inputValue()).toBe('half@example.com');
    await page.context().addCookies(cookies);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The SMTP server is saved').waitFor();
  });

  test('signing out ends the session', async () => {
    const page = await using.open('/account/tokens', { as: member });
    const cookies = await page.context().cookies();
    await page.getByRole('button', { name: 'Signed in as Mary Member' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL(/\/sign-in/);
    await page.context().addCookies(cookies);
    using.allowFaults(/401/);
    await page.goto(`${using.platform.url}/account/tokens`);
    await page.waitForURL(/\/sign-in/);
  });

  test('distinguishes an unavailable platform from an empty list', async () => {
    const page = await using.open('/account/tokens');
    using.allowFaults(/ERR_FAILED|Failed to load/);
    await page.route('**/api/v1/crawlingManager/**', (route) => route.abort());
    await page.getByRole('link', { name: 'Crawls' }).click();
    await page.getByText('The platform can’t be reached').waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Nothing is scheduled').waitFor();
  });

  test.each(AWAY)(
    'while %s is unavailable, each of its screens says so and offers a retry',
    async (_name, api, paths) => {
      const page = await using.open('/account/tokens');
      using.allowFaults(/503|Failed to load/);
      // As the gateway answers for a service that doesn't.
      await page.route(api, (route) =>
        route.request().url().endsWith('/users/me')
          ? route.continue()
          : route.fulfill({ status: 503, json: { error: { code: 'SERVICE_UNAVAILABLE', message: 'x' } } }),
      );
      for (const path of paths) {
        await page.goto(using.platform.url + path);
        await page.getByRole('alert').getByText('The service is not available').first().waitFor();
        await page.getByRole('button', { name: 'Try again' }).first().waitFor();
      }
      await page.unrouteAll();
      await page.getByRole('button', { name: 'Try again' }).first().click();
      await page.getByText('The service is not available').waitFor({ state: 'detached' });
    },
  );
});
