import { describeWith, type Page } from '@platform/testing';
import { findBarriers, useConsole } from './console.js';
import { waitForFocusIn } from './focus.js';

const TITLE = 'Confirm that it is you';

describeWith('chromium', 'the confirmation of dangerous acts', () => {
  const using = useConsole();
  const question = (page: Page) => page.getByRole('dialog', { name: TITLE });

  /** Opens the dialog that removes a member, long after the sign-in. */
  async function openRemoval(name: string, options: { theme?: 'dark'; width?: number } = {}): Promise<Page> {
    await using.platform.createMember(name);
    const page = await using.open('/organisation/members', options);
    await using.platform.ageSessions(using.platform.admin);
    using.allowFaults(/403/);
    await page.getByRole('button', { name: `Actions for ${name}` }).click();
    await page.getByRole('menuitem', { name: 'Remove…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await question(page).waitFor();
    return page;
  }

  test('UI-9 removing a member asks for the password again, by keyboard, and for the next one it does not', async () => {
    const page = await openRemoval('Bea First');
    const password = question(page).getByRole('textbox');
    await waitForFocusIn(password);
    expect(await findBarriers(page)).toEqual([]);
    await page.keyboard.type('not the password');
    using.allowFaults(/400/);
    await page.keyboard.press('Enter');
    await question(page).getByRole('alert').getByText('The current password is wrong').waitFor();
    await password.fill(using.platform.admin.password);
    await page.keyboard.press('Enter');
    await page.getByText('Bea First is removed.').waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    await using.platform.createMember('Cid Second');
    await page.reload();
    await page.getByRole('button', { name: 'Actions for Cid Second' }).click();
    await page.getByRole('menuitem', { name: 'Remove…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('Cid Second is removed.').waitFor();
  });

  test('UI-9 whoever declines is back in the dialog, and nothing was done', async () => {
    const page = await openRemoval('Dee Third', { theme: 'dark', width: 320 });
    expect(await findBarriers(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await question(page).waitFor({ state: 'detached' });
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Nothing was changed, because you did not confirm').waitFor();
    const button = dialog.getByRole('button', { name: 'Remove' });
    await waitForFocusIn(button);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Actions for Dee Third' }).waitFor();
  });

  test('AUTH-41 whoever has no password confirms it in another tab and goes on', async () => {
    const page = await openRemoval('Eve Fourth');
    await question(page).getByRole('button', { name: 'I have confirmed there' }).click();
    // It was not true yet: the question comes again.
    await question(page).waitFor();
    const opened = page.context().waitForEvent('page');
    await question(page).getByRole('link', { name: 'Confirm in a new tab' }).click();
    const tab = await opened;
    await tab.getByLabel('Your password').fill('wrong');
    await tab.getByRole('button', { name: 'Confirm', exact: true }).click();
    await tab.getByRole('alert').getByText('The current password is wrong').waitFor();
    await tab.getByLabel('Your password').fill(using.platform.admin.password);
    await tab.getByRole('button', { name: 'Confirm', exact: true }).click();
    await tab.getByRole('heading', { name: 'You have confirmed it is you' }).waitFor();
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
