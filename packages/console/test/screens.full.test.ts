import { describeWith, type Page } from '@platform/testing';
import { findBarriersInLooks, useConsole, waitForContent } from './console.js';
import { SCREENS } from './screen-list.js';

const PHONE = 320;

describeWith('chromium', 'every screen', () => {
  const using = useConsole({ isShared: true });

  beforeAll(async () => {
    const { platform } = using;
    const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 30, timezone: 'Europe/Berlin' };
    await platform.call('POST', '/api/v1/crawlingManager/wiki_1/schedule', { scheduleConfig });
    await platform.call('POST', '/api/v1/crawlingManager/wiki_1/run');
    await platform.call('POST', '/api/v1/personal-access-tokens', { name: 'Laptop', scopes: ['user:read'] });
    await platform.createMember('Ada Lovelace');
  });

  /** Looks for barriers in every look, and for what does not fit a narrow phone. */
  async function expectNoBarriers(page: Page): Promise<void> {
    await waitForContent(page);
    expect(await findBarriersInLooks(page)).toEqual([]);
    await page.setViewportSize({ width: PHONE, height: 800 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE);
  }

  test.each(SCREENS)('%s is accessible in both themes, and fits a phone', async (path, title) => {
    const page = await using.open(path);
    await page.getByRole('heading', { level: 1, name: title }).waitFor();
    await expectNoBarriers(page);
  });

  test('the page of a token, an application and a service account are accessible too, and fit a phone', async () => {
    const { call } = using.platform;
    const fields = { name: 'Shown', scopes: ['crawl:read'] };
    const { token } = await call<{ token: { id: string } }>('POST', '/api/v1/personal-access-tokens', fields);
    const grantTypes = ['client_credentials'];
    const { application } = await call<{ application: { clientId: string } }>(
      'POST',
      '/api/v1/oauth-applications',
      { ...fields, grantTypes },
    );
    const { serviceAccount } = await call<{ serviceAccount: { id: string } }>(
      'POST',
      '/api/v1/service-accounts',
      { name: 'Shown' },
    );
    const paths = [
      `/account/tokens/${token.id}`,
      `/organisation/applications/${application.clientId}`,
      `/organisation/service-accounts/${serviceAccount.id}`,
    ];
    for (const path of paths) {
      const page = await using.open(path);
      await page.getByRole('heading', { level: 1, name: 'Shown' }).waitFor();
      await expectNoBarriers(page);
    }
  });

  test('the list of screens contains every screen of the navigation', async () => {
    const page = await using.open('/account/tokens');
    const links = page.getByRole('navigation').getByRole('link');
    const paths = await links.evaluateAll((found) =>
      found.map((link) => (link as HTMLAnchorElement).pathname),
    );
    const known: readonly string[] = SCREENS.map(([path]) => path);
    expect(paths.filter((path) => path !== '/' && !known.includes(path))).toEqual([]);
  });
});
