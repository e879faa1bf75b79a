import { randomUUID } from 'node:crypto';
import { describeWith, type Page } from '@platform/testing';
import { useConsole, waitForContent } from './console.js';
import { expectSoundDialog, findFocusLeaks, leaveDialog, readTitle } from './dialog-checks.js';
import { SCREENS } from './screen-list.js';

/** The longest names: one word, wide characters, and from right to left. */
const LONG = `${'W'.repeat(50)}${'漢'.repeat(25)}${'مفتاح'.repeat(5)}`;
const APPLICATIONS = '/api/v1/oauth-applications';
const ACCOUNTS = '/api/v1/service-accounts';
const TOKENS = '/api/v1/personal-access-tokens';

/**
 * How many dialogs each screen offers. A dialog that is missing here, or cannot be opened any more, is noticed.
 * Dialogs that come later in a job, such as the review of a tool, are examined by the tests of that job.
 */
const DIALOGS: Readonly<Record<string, number>> = {
  '/account': 5,
  '/account/tokens': 2,
  '/crawls': 2,
  '/crawls/connectors/wiki_1': 7,
  '/crawls/endpoints': 4,
  '/mails/suppressions': 1,
  '/organisation/groups': 1,
  '/organisation/members': 7,
  '/organisation/sign-in': 5,
  '/organisation/tokens': 2,
  '/organisation/applications': 1,
  '/organisation/service-accounts': 1,
  '/organisation/token-policy': 2,
  '/organisation/mcp-servers': 1,
  '/activity/destinations': 1,
};

describeWith('chromium', 'every dialog', () => {
  const using = useConsole();
  const detailPaths: string[] = [];

  beforeAll(async () => {
    const { call } = using.platform;
    const fields = { name: LONG, scopes: ['crawl:read'] };
    const { token } = await call<{ token: { id: string } }>('POST', TOKENS, fields);
    const grantTypes = ['client_credentials'];
    type Registered = { application: { clientId: string } };
    const { application } = await call<Registered>('POST', APPLICATIONS, { ...fields, grantTypes });
    await call('POST', `${APPLICATIONS}/${application.clientId}/secrets`);
    const { serviceAccount } = await call<{ serviceAccount: { id: string } }>('POST', ACCOUNTS, { name: LONG, role: 'admin' });
    await call('POST', `${ACCOUNTS}/${serviceAccount.id}/tokens`, fields);
    await call('POST', '/api/v1/crawlingManager/endpoints', { url: `https://crawler.example.com/${LONG}`, description: LONG });
    const { server } = await call<{ server: { id: string } }>('POST', '/api/v1/mcp-servers', { name: 'w'.repeat(24), url: `http://127.0.0.1:9/${'w'.repeat(400)}` });
    const { destination } = await call<{ destination: { id: string } }>('POST', '/api/v1/events/destinations', { form: 'webhook', url: `https://hooks.example.com/${'w'.repeat(400)}`, description: LONG, types: ['token.leaked'] });
    const member = { fullName: `${LONG} ${LONG}`.slice(0, 200), password: using.platform.admin.password };
    const domain = `${'d'.repeat(60)}.${randomUUID()}.example.com`;
    await call('POST', '/api/v1/users', { ...member, email: `${'m'.repeat(64)}@${domain}` });
    await call('POST', '/api/v1/users', { fullName: member.fullName, email: `invited@${domain}` });
    await call('POST', '/api/v1/organisation/identity-provider/domains', { domain });
    const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 30, timezone: 'Europe/Berlin' };
    await call('POST', '/api/v1/crawlingManager/wiki_1/schedule', { scheduleConfig });
    await call('POST', '/api/v1/crawlingManager/wiki_1/hooks', { kind: 'github', description: LONG });
    detailPaths.push(
      `/account/tokens/${token.id}`,
      `/organisation/applications/${application.clientId}`,
      `/organisation/service-accounts/${serviceAccount.id}`,
      `/organisation/mcp-servers/${server.id}`,
      `/activity/destinations/${destination.id}`,
    );
  }); // oxfmt-ignore

  /** Some dialogs are offered by several screens. */
  const examined = new Set<string>();
  async function examineDialog(page: Page, opener: string): Promise<void> {
    const title = await readTitle(page);
    if (!examined.has(title)) await expectSoundDialog(page);
    examined.add(title);
    await leaveDialog(page, opener);
  }

  /** Opens every dialog that a screen offers, but for the browser's own that chooses a file: from its buttons, and from the first menus of its lists. @returns how many. */
  async function examineScreen(path: string): Promise<number> {
    let count = 0;
    const page = await using.open(path);
    // What is offered may depend on one answer after another.
    await page.waitForLoadState('networkidle');
    await waitForContent(page);
    const buttons = page.locator('main').locator('button:not([type=submit], [aria-haspopup])');
    const names = await buttons.evaluateAll((all) =>
      all.map((one) => ((one.classList.contains('primary') || one.textContent.endsWith('…')) && !one.textContent.includes('file') ? one.textContent : '')),
    ); // oxfmt-ignore
    for (const name of new Set(names.filter(Boolean))) {
      const button = buttons.nth(names.indexOf(name));
      await button.click();
      await examineDialog(page, (await button.getAttribute('aria-label')) ?? name);
      count += 1;
    }
    const menus = page.locator('main').getByRole('button', { name: /^Actions for / });
    for (const menu of (await menus.all()).slice(0, 2)) {
      const opener = (await menu.getAttribute('aria-label')) ?? '';
      await menu.click();
      await page.getByRole('menuitem').first().waitFor();
      const actions = await page.getByRole('menuitem').allTextContents();
      await page.keyboard.press('Escape');
      for (const action of actions.filter((text) => text.endsWith('…'))) {
        await menu.click();
        await page.getByRole('menuitem', { name: action, exact: true }).click();
        await examineDialog(page, opener);
        count += 1;
      }
    }
    return count;
  }

  test.each(SCREENS.map(([path]) => path))(
    'UI-6 the dialogs of %s fit a phone and keep the focus',
    async (path) => {
      expect(await examineScreen(path)).toBe(DIALOGS[path] ?? 0);
    },
  );

  test('UI-6 the dialogs of the pages of single things fit a phone and keep the focus', async () => {
    const counts: number[] = [];
    for (const path of detailPaths) counts.push(await examineScreen(path));
    expect(counts).toEqual([3, 5, 5, 3, 4]);
  });

  test('UI-6 a secret that is shown once, and what is announced, fit a phone', async () => {
    const page = await using.open('/account/tokens');
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill(LONG);
    await page.getByText('An agent that reads').waitFor();
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByRole('tab').first().waitFor();
    await expectSoundDialog(page);
    await page.getByRole('button', { name: 'Done' }).click();

    await page.getByRole('row').filter({ hasText: LONG }).getByRole('button').first().click();
    await page.getByRole('menuitem', { name: 'Revoke…' }).click();
    // A screen reader announces what changes here only if the dialog does not hide it.
    const region = page.locator('output.announcements');
    expect(await region.evaluate((found) => found.closest('[inert], [aria-hidden=true]'))).toBeNull();
    await page.getByRole('button', { name: 'Revoke token' }).click();
    await region.getByText(LONG).waitFor();
    await page.setViewportSize({ width: 320, height: 800 });
    const box = await region.boundingBox();
    expect(box && box.x >= 0 && box.x + box.width <= 320).toBe(true);
  }); // oxfmt-ignore

  test('UI-6 the navigation of a phone keeps the focus', async () => {
    const page = await using.open('/account', { width: 390 });
    await page.getByRole('button', { name: 'Open the navigation' }).click();
    await page.getByRole('dialog').waitFor();
    expect(await findFocusLeaks(page)).toEqual([]);
    await leaveDialog(page, 'Open the navigation');
  });
});
