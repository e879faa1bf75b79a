import { describeWith } from '@platform/testing';
import { findBarriers, useConsole } from './console.js';
import { waitForFocusIn } from './focus.js';

describeWith('chromium', 'the palette', () => {
  const using = useConsole();

  test('UI-14 leads by keyboard to a screen, an action, a token and an instance of a connector', async () => {
    const { call } = using.platform;
    const body = { name: 'Weather station', scopes: ['user:read'] };
    const { token } = await call<{ token: { id: string } }>('POST', '/api/v1/personal-access-tokens', body);
    const page = await using.open('/');
    const { keyboard } = page;
    const jump = async (words: string, target: string): Promise<void> => {
      await keyboard.press('Control+k');
      await waitForFocusIn(page.getByRole('searchbox', { name: 'Search or jump to' }));
      await keyboard.type(words);
      await page.getByRole('menuitem', { name: 'Home' }).waitFor({ state: 'detached' });
      await page.getByRole('menuitem', { name: target }).waitFor();
      await keyboard.press('ArrowDown');
      await keyboard.press('Enter');
      await page.getByRole('dialog', { name: 'Search or jump to' }).waitFor({ state: 'detached' });
    };
    await keyboard.press('Control+k');
    await page.getByRole('menuitem', { name: 'Audit log' }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await jump('audit', 'Audit log');
    await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor();
    await jump('weather', 'Weather station');
    await page.waitForURL(`**/account/tokens/${token.id}`);
    await jump('create a token', 'Create a token');
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).waitFor();
    await keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await jump('register a crawl', 'Register a crawl endpoint');
    await page.getByRole('dialog').getByRole('textbox', { name: 'Address' }).waitFor();
    await keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const instance = '/api/v1/crawlingManager/wiki_1/instances/sales';
    await call('PUT', instance, { displayName: 'Sales handbook' });
    const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 30, timezone: 'UTC' };
    await call('POST', `${instance}/schedule`, { scheduleConfig });
    await jump('handbook', 'Sales handbook');
    await page.getByRole('heading', { level: 1, name: 'Sales handbook' }).waitFor();
  });

  test('UI-14 shows nothing that was found for fewer letters than are typed', async () => {
    const page = await using.open('/');
    await page.keyboard.press('Control+k');
    await waitForFocusIn(page.getByRole('searchbox', { name: 'Search or jump to' }));
    await page.keyboard.type('re');
    await page.getByRole('menuitem', { name: 'Spreadsheet database' }).waitFor();
    await page.keyboard.type('gister a crawl');
    await page.getByRole('menuitem', { name: 'Register an application' }).waitFor({ state: 'detached' });
    expect(await page.getByRole('menuitem').allTextContents()).toEqual(['Register a crawl endpoint']);
  });

  test('UI-14 says that nothing matches only once everything was looked up', async () => {
    const page = await using.open('/');
    let answer = (): void => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/api/v1/users?*', async (route) => {
      await held;
      await route.continue();
    });
    await page.keyboard.press('Control+k');
    await waitForFocusIn(page.getByRole('searchbox', { name: 'Search or jump to' }));
    const asked = page.waitForRequest('**/api/v1/users?*');
    const found = page.waitForResponse('**/api/v1/personal-access-tokens/admin?*');
    await page.keyboard.type('unheard of');
    await Promise.all([asked, found]);
    const results = page.getByRole('menu', { name: 'Results' });
    await results.getByText('Loading…').waitFor();
    expect(await results.getByText('Nothing matches').count()).toBe(0);
    answer();
    await results.getByText('Nothing matches').waitFor();
  });
});
