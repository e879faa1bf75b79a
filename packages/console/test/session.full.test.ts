import { describeWith, type Page } from '@platform/testing';
import { findBarriers, useConsole } from './console.js';
import { expectSoundDialog } from './dialog-checks.js';
import { waitForFocusIn } from './focus.js';

const TITLE = 'Confirm that it is you';
const ENDED = 'Your session has ended and nothing was changed.';

describeWith('chromium', 'what is typed, in a session', () => {
  const using = useConsole();

  test('UI-4 is sent from a dialog once the person has signed in again', async () => {
    const page = await using.open('/account/tokens');
    await page.getByRole('button', { name: 'New token' }).click();
    const name = page.getByRole('textbox', { name: 'Name' });
    await name.fill('half typed');
    const cookies = await page.context().cookies();
    await page.context().clearCookies();
    using.allowFaults(/401/);
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByRole('dialog', { name: 'New token' }).getByText(ENDED).waitFor();
    expect(await name.inputValue()).toBe('half typed');
    await page.context().addCookies(cookies);
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByText('shown this once').waitFor();
  });

  test('UI-4 is sent from a form of a screen, which no link under the pointer takes away meanwhile', async () => {
    const page = await using.open('/mails/smtp');
    const sender = page.getByLabel('Sender address');
    await sender.fill('half@example.com');
    const cookies = await page.context().cookies();
    await page.context().clearCookies();
    using.allowFaults(/401/);
    await page.getByRole('link', { name: 'Activity' }).hover();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(ENDED).last().waitFor();
    await page.getByRole('link', { name: 'Members' }).focus();
    expect(await sender.inputValue()).toBe('half@example.com');
    expect(new URL(page.url()).pathname).toBe('/mails/smtp');
    await page.context().addCookies(cookies);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The SMTP server is saved').waitFor();
  });

  describe('that has to be confirmed', () => {
    const question = (page: Page) => page.getByRole('dialog', { name: TITLE });

    /** Opens the dialog that removes a member, long after the sign-in. */
    async function openRemoval(name: string): Promise<Page> {
      await using.platform.createMember(name);
      const page = await using.open('/organisation/members');
      await using.platform.ageSessions(using.platform.admin);
      using.allowFaults(/403/);
      await page.getByRole('button', { name: `Actions for ${name}` }).click();
      await page.getByRole('menuitem', { name: 'Remove…' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
      await question(page).waitFor();
      return page;
    }

    test('UI-9 whoever declines is back in the dialog, and nothing was done', async () => {
      const page = await openRemoval('Dee First');
      await expectSoundDialog(page);
      await page.keyboard.press('Escape');
      await question(page).waitFor({ state: 'detached' });
      const dialog = page.getByRole('dialog');
      await dialog.getByText('Nothing was changed, because you did not confirm').waitFor();
      await waitForFocusIn(dialog.getByRole('button', { name: 'Remove' }));
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Actions for Dee First' }).waitFor();
    });

    test('UI-9 removing a member asks for the password again, by keyboard, and for the next one it does not', async () => {
      await using.platform.createMember('Cid Third');
      const page = await openRemoval('Bea Second');
      const password = question(page).getByRole('textbox');
      await waitForFocusIn(password);
      await page.keyboard.type('not the password');
      using.allowFaults(/400/);
      await page.keyboard.press('Enter');
      await question(page).getByRole('alert').getByText('The current password is wrong').waitFor();
      await password.fill(using.platform.admin.password);
      await page.keyboard.press('Enter');
      await page.getByText('Bea Second is removed.').waitFor();
      await page.getByRole('row', { name: /Bea Second/ }).waitFor({ state: 'detached' });

      await page.getByRole('button', { name: 'Actions for Cid Third' }).click();
      await page.getByRole('menuitem', { name: 'Remove…' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
      await page.getByText('Cid Third is removed.').waitFor();
    });

    test('AUTH-41 whoever has no password confirms it in another tab and goes on', async () => {
      const page = await openRemoval('Eve Fourth');
      await question(page).getByRole('button', { name: 'I have confirmed there' }).click();
      // It was not true yet: the question comes again.
      await question(page).waitFor();
      const opened = page.context().waitForEvent('page');
      await question(page).getByRole('link', { name: 'Confirm in a new tab' }).click();
      const tab = await opened;
      await tab.getByLabel('Your password').fill(using.platform.admin.password);
      await tab.getByRole('button', { name: 'Confirm', exact: true }).click();
      await tab.getByRole('heading', { name: 'You have confirmed it is you' }).waitFor();
      expect(await findBarriers(tab)).toEqual([]);
      await tab.close();
      await question(page).getByRole('button', { name: 'I have confirmed there' }).click();
      await page.getByText('Eve Fourth is removed.').waitFor();
    });

    test('AUTH-41 a form of a screen waits for it, too, and loses nothing', async () => {
      const page = await using.open('/mails/smtp');
      await page.getByRole('textbox', { name: 'Host' }).fill('smtp.example.net');
      await using.platform.ageSessions(using.platform.admin);
      using.allowFaults(/403/);
      await page.getByRole('button', { name: 'Save' }).click();
      await question(page).getByRole('textbox').fill(using.platform.admin.password);
      await question(page).getByRole('button', { name: 'Confirm', exact: true }).click();
      await page.getByText('The SMTP server is saved.').waitFor();
      const path = '/api/v1/configurationManager/smtpConfig';
      const { smtp } = await using.platform.call<{ smtp: { host: string } }>('GET', path);
      expect(smtp.host).toBe('smtp.example.net');
    });
  });
});
