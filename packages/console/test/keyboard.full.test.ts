import { describeWith } from '@platform/testing';
import { findBarriers, useConsole } from './console.js';
import {
  arrowTo,
  press,
  tabTo,
  waitForAnyFocus,
  waitForDialog,
  waitForFocus,
  waitForFocusIn,
} from './focus.js';

describeWith('chromium', 'by keyboard alone', () => {
  const using = useConsole();

  test('UI-6 a new person does the whole job, from the sign-in over a token, a crawl and an invitation to the revocation', async () => {
    const page = await using.open('/');
    // Requests of the page that are still under way must not fail without the cookie.
    await page.goto('about:blank');
    await page.context().clearCookies();
    await page.goto(using.platform.url);
    const { email, password } = using.platform.admin;
    await waitForFocusIn(page.getByLabel('E-mail address'));
    await page.keyboard.type(email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: /Welcome/ }).waitFor();

    // The first stop leads past the navigation.
    await page.keyboard.press('Tab');
    await waitForFocus(page, 'Skip to the content');
    await page.keyboard.press('Enter');
    await press(page, 'My tokens');
    await page.getByRole('heading', { level: 1, name: 'My tokens' }).waitFor();
    await press(page, 'New token');
    await page.getByRole('dialog').getByRole('checkbox').first().waitFor();
    await waitForFocusIn(page.getByRole('textbox', { name: 'Name' }));
    await page.keyboard.type('Laptop');
    await page.keyboard.press('Enter');
    await page.getByRole('tab').first().waitFor();
    await tabTo(page, (await page.getByRole('tab').first().textContent()) ?? '');
    await arrowTo(page, 'ArrowRight', 'curl');
    await page.getByRole('tabpanel').getByText('curl').first().waitFor();
    await press(page, 'Done');
    await waitForFocus(page, 'New token');

    await press(page, 'Crawls');
    await page.getByRole('heading', { level: 1, name: 'Crawls' }).waitFor();
    await press(page, 'Schedule a connector');
    await page.getByRole('region', { name: 'Next runs' }).getByRole('listitem').first().waitFor();
    await press(page, 'Save schedule');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await waitForFocus(page, 'Schedule a connector');
    await page.getByRole('row', { name: /Mailbox/ }).waitFor();
    await press(page, 'row');
    await page.getByRole('heading', { level: 1, name: 'Mailbox' }).waitFor();
    await press(page, 'Run now');
    await page.getByRole('row').filter({ hasText: 'Event published' }).first().waitFor();
    await press(page, 'row');
    await page.getByRole('heading', { level: 1, name: 'Run of Mailbox' }).waitFor();
    await page.getByText('eventId').waitFor();

    await press(page, 'Mail');
    await page.getByRole('heading', { level: 1, name: 'Mails' }).waitFor();
    await press(page, 'SMTP server');
    await page.getByRole('heading', { level: 1, name: 'SMTP server' }).waitFor();
    await press(page, 'Test');
    await page.getByText('It works').waitFor();
    await press(page, 'Members');
    await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor();
    await press(page, 'Invite a member');
    await waitForFocusIn(page.getByLabel('E-mail address'));
    await page.keyboard.type(`new-${Date.now()}@example.com`);
    await page.keyboard.press('Tab');
    await page.keyboard.type('Grace Hopper');
    await page.keyboard.press('Enter');
    await page.getByRole('row', { name: /Grace Hopper/ }).waitFor();
    await waitForFocus(page, 'Invite a member');

    await press(page, 'Tokens');
    await page.getByRole('row', { name: /Laptop/ }).waitFor();
    await press(page, 'Actions for Laptop');
    await page.getByRole('menuitem', { name: 'Revoke…' }).waitFor();
    await arrowTo(page, 'ArrowDown', 'Revoke…');
    await page.keyboard.press('Enter');
    await waitForDialog(page);
    await press(page, 'Revoke token');
    await page.getByText('“Laptop” is revoked.').waitFor();
    await page.getByRole('row', { name: /Laptop/ }).waitFor({ state: 'detached' });
    await waitForAnyFocus(page);
  }); // oxfmt-ignore

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
    await jump('audit log', 'Audit log');
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

  test('UI-51 leads to what an id, a token or another word for a screen means, and sends nothing of a token', async () => {
    const { call } = using.platform;
    const fields = { name: 'Whose is this', scopes: ['user:read'] };
    const { token } = await call<{ token: { id: string; accessToken: string } }>(
      'POST',
      '/api/v1/personal-access-tokens',
      fields,
    );
    const ended = { name: 'Ended agent', scopes: ['user:read'] };
    const { token: revoked } = await call<{ token: { id: string } }>(
      'POST',
      '/api/v1/personal-access-tokens',
      ended,
    );
    await call('DELETE', `/api/v1/personal-access-tokens/${revoked.id}`, { reason: 'done' });
    const page = await using.open('/');
    using.allowFaults(/404/);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(`${request.url()} ${request.postData() ?? ''}`));
    const search = async (words: string) => {
      await page.keyboard.press('Control+k');
      const box = page.getByRole('searchbox', { name: 'Search or jump to' });
      await box.fill(words);
      return page.getByRole('menuitem');
    };
    const leave = async (): Promise<void> => {
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    };
    await (await search(token.accessToken)).filter({ hasText: 'Whose is this' }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await leave();
    await search(token.accessToken.slice(0, 40));
    await page.getByText('This is a part of a token').waitFor();
    await leave();
    expect(asked.filter((request) => request.includes('eyJ'))).toEqual([]);
    await (await search(token.id)).filter({ hasText: 'Whose is this' }).click();
    await page.waitForURL(`**/organisation/tokens/${token.id}`);
    await page.getByRole('button', { name: 'Rotate…' }).waitFor();
    // What is on the screen can be acted on from the search.
    await (await search('rotate')).filter({ hasText: 'Rotate' }).first().click();
    await page.getByRole('dialog', { name: /^Replace/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await (await search('ended agent')).filter({ hasText: 'Revoked' }).waitFor();
    await leave();
    await (await search('webhook')).filter({ hasText: 'Destinations' }).waitFor();
    await leave();
    await search('00000000-0000-4000-8000-000000000000');
    await page.getByText('Nothing that you may see has this id').waitFor();
    await leave();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    expect(await findBarriers(page, '[role=dialog]')).toEqual([]);
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
