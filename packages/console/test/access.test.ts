import { describeWith } from '@platform/testing';
import { useConsole } from './console.js';
import type { Person } from './platform.js';

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

  test('a member sees no administrators’ screens, and is told so at their addresses', async () => {
    const page = await using.open('/crawls', { as: member });
    await page.getByRole('heading', { name: 'For administrators' }).waitFor();
    const links = await page.getByRole('navigation').getByRole('link').allTextContents();
    expect(links).toContain('My tokens');
    expect(links).not.toContain('Crawls');
    expect(links).not.toContain('Members');
  });

  test('a session that ends loses nothing that was typed', async () => {
    const page = await using.open('/account/tokens');
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('half typed');
    const cookies = await page.context().cookies();
    await page.context().clearCookies();
    using.allowFaults(/401/);
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByText('Your session has ended and nothing was changed.').waitFor();
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('half typed');
    await page.context().addCookies(cookies);
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByText('shown this once').waitFor();
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

  test('a platform that is away is told from an empty list', async () => {
    const page = await using.open('/account/tokens');
    using.allowFaults(/ERR_FAILED|Failed to load/);
    await page.route('**/api/v1/crawlingManager/**', (route) => route.abort());
    await page.getByRole('link', { name: 'Crawls' }).click();
    await page.getByText('The platform can’t be reached').waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Nothing is scheduled').waitFor();
  });

  test('an address that leads nowhere says so', async () => {
    const page = await using.open('/account/nowhere');
    await page.getByRole('heading', { name: 'There is nothing here', level: 1 }).waitFor();
  });
});
