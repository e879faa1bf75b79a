import { describeWith } from '@platform/testing';
import { useConsole } from './console.js';
import {
  arrowTo,
  press,
  tabTo,
  waitForAnyFocus,
  waitForDialog,
  waitForFocus,
  waitForFocusIn,
} from './focus.js';

describeWith('chromium', 'the whole job of a new person, by keyboard alone', () => {
  const using = useConsole();

  test('UI-6 from the sign-in over a token, a crawl and an invitation to the revocation, without an address', async () => {
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
  }); // prettier-ignore
});
