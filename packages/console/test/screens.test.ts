import { describeWith, type Page, waitFor } from '@platform/testing';
import { findBarriers, useConsole } from './console.js';

/** Every screen of the navigation (UI-6), by its path and its heading. */
const SCREENS = [
  ['/', /Welcome/],
  ['/account', 'My account'],
  ['/account/apps', 'Connected apps'],
  ['/account/tokens', 'My tokens'],
  ['/crawls', 'Crawls'],
  ['/crawls/connectors/wiki_1', 'wiki_1'],
  ['/crawls/queue', 'Queue'],
  ['/crawls/events', 'Events'],
  ['/mails', 'Mails'],
  ['/mails/templates', 'Templates'],
  ['/mails/smtp', 'SMTP server'],
  ['/organisation/members', 'Members'],
  ['/organisation/sign-in', 'Sign-in'],
  ['/organisation/tokens', 'All tokens'],
  ['/organisation/applications', 'Applications'],
  ['/organisation/service-accounts', 'Service accounts'],
  ['/organisation/token-policy', 'Token policy'],
  ['/organisation/mcp-servers', 'MCP servers'],
  ['/organisation/apps', 'Connected apps'],
  ['/organisation/audit', 'Audit log'],
] as const;

const PHONE = 320;

describeWith('chromium', 'every screen', () => {
  const using = useConsole();

  beforeAll(async () => {
    const { platform } = using;
    const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 30, timezone: 'Europe/Berlin' };
    await platform.call('POST', '/api/v1/crawlingManager/wiki_1/schedule', { scheduleConfig });
    await platform.call('POST', '/api/v1/crawlingManager/wiki_1/run');
    await platform.call('POST', '/api/v1/personal-access-tokens', { name: 'Laptop', scopes: ['user:read'] });
    await platform.createMember('Ada Lovelace');
  });

  const waitForContent = (page: Page) =>
    waitFor(async () => (await page.getByText('Loading…').count()) === 0, { what: 'the content' });

  test.each(SCREENS)('%s is accessible in both themes, and fits a phone', async (path, title) => {
    const page = await using.open(path);
    await page.getByRole('heading', { level: 1, name: title }).waitFor();
    await waitForContent(page);
    expect(await findBarriers(page)).toEqual([]);
    await page.setViewportSize({ width: PHONE, height: 800 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await findBarriers(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });
    expect(await findBarriers(page)).toEqual([]);
  });

  test('the list above contains every screen of the navigation', async () => {
    const page = await using.open('/account/tokens');
    const links = page.getByRole('navigation').getByRole('link');
    const paths = await links.evaluateAll((found) =>
      found.map((link) => (link as HTMLAnchorElement).pathname),
    );
    const known: readonly string[] = SCREENS.map(([path]) => path);
    expect(paths.filter((path) => path !== '/' && !known.includes(path))).toEqual([]);
  });
});
