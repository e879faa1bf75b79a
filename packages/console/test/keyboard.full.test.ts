import { describeWith, type Page, waitFor } from '@platform/testing';
import { useConsole } from './console.js';
import { arrowTo, press, waitForDialog, waitForFocus } from './focus.js';

const SMTP = '/api/v1/configurationManager/smtpConfig';

describeWith('chromium', 'by keyboard alone', () => {
  const using = useConsole();

  /** Opens the menu of a row and chooses an action. */
  async function chooseInRow(page: Page, row: RegExp, action: string): Promise<void> {
    await page
      .getByRole('row', { name: row })
      .getByRole('button', { name: /^Actions/ })
      .focus();
    await page.keyboard.press('Enter');
    await arrowTo(page, 'ArrowDown', action);
    await page.keyboard.press('Enter');
    await waitForDialog(page);
  }

  test('a member is made an administrator by the menu of the row', async () => {
    await using.platform.createMember('Alan Turing');
    const page = await using.open('/organisation/members');
    await chooseInRow(page, /Alan Turing/, 'Make administrator…');
    await press(page, 'Change the role');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page
      .getByRole('row', { name: /Alan Turing/ })
      .getByText('Administrator')
      .waitFor();
  });

  test('a menu and a dialog are left with Escape, and the focus returns', async () => {
    await using.platform.createMember('Ada Lovelace');
    const page = await using.open('/organisation/members');
    await chooseInRow(page, /Ada Lovelace/, 'Remove…');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await waitForFocus(page, 'Actions for Ada Lovelace');
    await page.getByRole('row', { name: /Ada Lovelace/ }).waitFor();
  });

  test('a token is revoked with a reason', async () => {
    const body = { name: 'Old laptop', scopes: ['user:read'] };
    await using.platform.call('POST', '/api/v1/personal-access-tokens', body);
    const page = await using.open('/account/tokens');
    await chooseInRow(page, /Old laptop/, 'Revoke…');
    await page.keyboard.press('Tab');
    await page.getByLabel('Reason').focus();
    await page.keyboard.type('sold');
    await page.keyboard.press('Enter');
    await page.getByText('“Old laptop” is revoked.').waitFor();
  });

  test('the SMTP server is changed and tested, and a mail that failed is sent again', async () => {
    const { platform } = using;
    const { smtp } = await platform.call<{ smtp: { port: number } }>('GET', SMTP);
    const page = await using.open('/mails/smtp');
    const port = page.getByRole('textbox', { name: 'Port' });
    await port.focus();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('1');
    await press(page, 'Save');
    await page.getByText('The SMTP server is saved').waitFor();
    await press(page, 'Test');
    await page.getByText('It does not work').waitFor();

    const body = { name: 'mailer', scopes: ['SEND_MAIL'] };
    const { token } = await platform.call<{ token: { accessToken: string } }>(
      'POST',
      '/api/v1/personal-access-tokens',
      body,
    );
    await fetch(`${platform.url}/api/v1/mail/emails/sendEmail`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token.accessToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        emailTemplateType: 'accountCreation',
        sendEmailTo: ['ada@example.com'],
        subject: 'Late',
        templateData: { userName: 'Ada' },
      }),
    });
    await port.focus();
    await page.keyboard.press('Control+a');
    await page.keyboard.type(String(smtp.port));
    await press(page, 'Save');
    await waitFor(
      async () => (await platform.call<{ smtp: { port: number } }>('GET', SMTP)).smtp.port === smtp.port,
      { what: 'the saved server' },
    );

    await page.goto(`${platform.url}/mails?state=failed`);
    await page.getByRole('row', { name: /Late/ }).getByRole('link').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Late' }).waitFor();
    await press(page, 'Send again…');
    await waitForDialog(page);
    await press(page, 'Send again');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.goto(`${platform.url}/mails?state=sent`);
    await page.getByRole('row', { name: /Late/ }).waitFor();
  });

  test('the queue leads to a connector, and its schedule is paused and removed by the menu of the row', async () => {
    const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 30, timezone: 'UTC' };
    await using.platform.call('POST', '/api/v1/crawlingManager/wiki_1/schedule', { scheduleConfig });
    const page = await using.open('/crawls/queue');
    await page.getByRole('row', { name: /Wiki/ }).getByRole('link').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Wiki' }).waitFor();
    await press(page, 'Pause');
    await page.getByRole('heading', { name: 'Why it does not run' }).waitFor();
    await page.goto(`${using.platform.url}/crawls`);
    await chooseInRow(page, /Wiki/, 'Remove…');
    await press(page, 'Remove schedule');
    await page.getByText('Nothing is scheduled').waitFor();
  });
});
