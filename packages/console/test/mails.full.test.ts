import { readFile } from 'node:fs/promises';
import { describeWith, waitFor } from '@platform/testing';
import { copy, findBarriers, findBarriersInLooks, useConsole } from './console.js';
import { expectSoundDialog } from './dialog-checks.js';

describeWith('chromium', 'the screens of mails', () => {
  const using = useConsole();
  const SMTP = '/api/v1/configurationManager/smtpConfig';
  let smtp: { readonly port: number };

  beforeAll(async () => {
    const saved = await using.platform.call<{ smtp: { port: number; hasPassword: boolean } }>('GET', SMTP);
    const { hasPassword: _none, ...rest } = saved.smtp;
    smtp = rest;
  });
  // What a test has saved is no other one's.
  afterEach(async () => {
    await using.platform.call('POST', SMTP, smtp);
    await using.platform.call('PUT', '/api/v1/mail/brand', {});
  });

  test('shows a failed mail with the reason, and sends it again once the server is right', async () => {
    const { platform } = using;
    const page = await using.open('/mails/smtp');
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByText('It works').waitFor();

    await page.getByRole('textbox', { name: 'Port' }).fill('1');
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByText('It does not work').waitFor();
    // What was typed was tested, and not saved.
    const stored = await platform.call<{ smtp: { port: number } }>('GET', SMTP);
    expect(stored.smtp.port).toBe(smtp.port);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The SMTP server is saved').waitFor();

    const { token } = await platform.call<{ token: { accessToken: string } }>(
      'POST',
      '/api/v1/personal-access-tokens',
      { name: 'mailer', scopes: ['SEND_MAIL'] },
    );
    await fetch(`${platform.url}/api/v1/mail/emails/sendEmail`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token.accessToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        emailTemplateType: 'accountCreation',
        sendEmailTo: ['ada@example.com'],
        subject: 'Does not arrive',
        templateData: { userName: 'Ada', companyName: 'Example' },
      }),
    });
    await page.getByRole('link', { name: 'Mails' }).click();
    await page.getByRole('row').filter({ hasText: 'Does not arrive' }).filter({ hasText: 'Failed' }).click();
    await page.getByText('It was not sent.').waitFor();
    expect(page.url()).toContain(`/mails/${await copy(page, 'Mail id')}`);
    await page.getByText(/kept encrypted, only so that it can be sent again/).waitFor();

    await platform.call('POST', SMTP, smtp);
    await page.getByRole('button', { name: 'Send again…' }).click();
    await expectSoundDialog(page);
    await page.getByRole('button', { name: 'Send again', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Mails' }).click();
    await page.getByRole('row').filter({ hasText: 'Does not arrive' }).filter({ hasText: 'Sent' }).click();
    await page.frameLocator('iframe').getByText('Hello Ada,').waitFor();
    await page.getByText(/Rendered again from its template/).waitFor();
  });

  test('saves a server of Microsoft 365, and shows at the field what is wrong', async () => {
    const { platform } = using;
    const page = await using.open('/mails/smtp');
    await page.getByRole('textbox', { name: 'Host' }).fill('');
    await page.getByRole('button', { name: 'Sign in with' }).click();
    await page.getByRole('option', { name: 'Microsoft 365' }).click();
    expect(await page.getByRole('textbox', { name: 'Host' }).inputValue()).toBe('smtp.office365.com');
    await page.getByRole('textbox', { name: 'Mailbox' }).fill('noreply@example.com');
    await page.getByRole('textbox', { name: 'Directory (tenant) id' }).fill('a/b');
    await page.getByRole('textbox', { name: 'Application (client) id' }).fill('an-application');
    await page.getByLabel('Client secret', { exact: true }).last().fill('a-secret');
    using.allowFaults(/400/);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('textbox', { name: 'Directory (tenant) id' }).and(page.locator(':focus')).waitFor();
    await page.getByRole('textbox', { name: 'Directory (tenant) id' }).fill('example.com');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The SMTP server is saved').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    const saved = await platform.call<{ smtp: object }>('GET', SMTP);
    expect(saved.smtp).toMatchObject({
      host: 'smtp.office365.com',
      username: 'noreply@example.com',
      auth: { type: 'oauth2', provider: 'microsoft', tenant: 'example.com', clientId: 'an-application' },
    });
  });

  test('API-18 keeps the password that nobody touched, and deletes it only when that is chosen', async () => {
    const { platform } = using;
    const read = async () =>
      (await platform.call<{ smtp: { hasPassword: boolean; fromEmail: string } }>('GET', SMTP)).smtp;
    const login = { ...smtp, username: 'u', password: 's3cret' };
    await platform.call('POST', SMTP, login);
    const page = await using.open('/mails/smtp');
    await page.getByRole('textbox', { name: 'Sender address' }).fill('other@example.com');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The SMTP server is saved').waitFor();
    expect(await read()).toMatchObject({ fromEmail: 'other@example.com', hasPassword: true });

    using.allowFaults(/400/);
    await page.getByRole('textbox', { name: 'Host' }).fill('smtp.example.org');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('is not sent elsewhere: enter it again').waitFor();
    await page.getByText('Remove the stored password').click();
    await page.getByRole('button', { name: 'Save' }).click();
    await waitFor(async () => !(await read()).hasPassword, { what: 'the removal' });
  });

  test('MAIL-44 sends a test mail to the person, through the server that is saved', async () => {
    const page = await using.open('/mails/smtp');
    await page.getByRole('button', { name: 'Send a test mail to me' }).click();
    await page.getByText(`accepted a mail to ${using.platform.admin.email}`).waitFor();
    await page.getByRole('link', { name: 'Mails' }).click();
    await page.getByRole('row').filter({ hasText: 'Test mail' }).filter({ hasText: 'Sent' }).waitFor();
  });

  test('saves a brand, which the templates show', async () => {
    const page = await using.open('/mails/brand');
    await page.getByRole('textbox', { name: 'Name' }).fill('Bücher & Co');
    await page.getByRole('textbox', { name: 'Colour of buttons' }).fill('#0a7d33');
    await page.getByRole('textbox', { name: 'Address in the foot' }).fill('Hauptstraße 1, Berlin');
    await page.locator('input[type=file]').setInputFiles({
      name: 'logo.png',
      mimeType: 'image/png',
      buffer: Buffer.from(
        'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
        'base64',
      ),
    });
    await page.getByText('A logo of 1 kB.').waitFor();
    await page.getByRole('button', { name: /Language of mails/ }).click();
    await page.getByRole('option', { name: 'German' }).click();
    expect(await findBarriers(page)).toEqual([]);
    // What is saved can be left, although the form is still being loaded again.
    let reload = (): void => undefined;
    const isLeft = new Promise<void>((resolve) => (reload = resolve));
    await page.route(
      (url) => url.pathname === '/api/v1/mail/brand',
      async (route) => {
        if (route.request().method() === 'GET') await isLeft;
        await route.continue();
      },
    );
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The brand is saved').waitFor();
    await page.getByRole('link', { name: 'Templates' }).click();
    await page.waitForURL(/templates/);
    reload();
    const frame = page.frameLocator('iframe');
    await frame.getByText('Hauptstraße 1, Berlin').waitFor();
    await frame.getByText('Sie sind eingeladen', { exact: true }).waitFor();
    const image = frame.getByRole('img', { name: 'Bücher & Co' });
    await image.waitFor();
    expect(await image.evaluate((element) => (element as HTMLImageElement).naturalWidth)).toBe(1);
  });

  test('shows a mail as it went out, without the link that lets the recipient in', async () => {
    const { platform } = using;
    await platform.call('POST', '/api/v1/users', { email: 'emmy@example.com', fullName: 'Emmy Noether' });
    const page = await using.open('/mails?q=emmy@');
    await page.getByRole('row').filter({ hasText: 'emmy@example.com' }).filter({ hasText: 'Sent' }).click();
    const frame = page.frameLocator('iframe');
    await frame.getByText('Hello Emmy Noether,').waitFor();
    expect(await frame.locator('a').first().getAttribute('href')).toBe('https://hidden.invalid/');
    await page.getByRole('radio', { name: 'Dark' }).click();
    await page.waitForURL(/theme=dark/);
    await page.getByRole('radio', { name: 'Text' }).click();
    await page.getByText('https://hidden.invalid/').waitFor();
    expect(await page.content()).not.toContain('#token=');
    expect(await findBarriersInLooks(page)).toEqual([]);
    await page.setViewportSize({ width: 320, height: 800 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
  });

  test('lists suppressed addresses, adds, exports and removes them', async () => {
    const page = await using.open('/mails/suppressions');
    await page.getByText('No address is suppressed').waitFor();
    await page.getByRole('button', { name: 'Suppress an address' }).click();
    await page.getByRole('textbox', { name: 'Address' }).fill('gone@example.com');
    await page.getByRole('button', { name: 'Suppress', exact: true }).click();
    await page.getByRole('row').filter({ hasText: 'gone@example.com' }).waitFor();

    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export as CSV' }).click();
    const csv = await readFile(await (await download).path(), 'utf8');
    expect(csv).toMatch(/^address,.*\r\ngone@example\.com,administrator,/);

    await page.getByRole('button', { name: /gone@example\.com/ }).click();
    await page.getByRole('menuitem', { name: 'Send mail again…' }).click();
    await page.getByRole('button', { name: 'Send mail again', exact: true }).click();
    await page.getByText('No address is suppressed').waitFor();
  });

  test('previews a template with data of one’s own, light, dark, on a phone and as text, and runs none of it', async () => {
    const page = await using.open('/mails/templates');
    const frame = page.frameLocator('iframe[title="Invitation"]');
    await frame.getByText('Hello Ada Lovelace,').waitFor();
    await page.getByLabel('Name of the recipient').fill('<img src=x onerror=alert(1)>');
    await frame.getByText('Hello <img src=x onerror=alert(1)>,').waitFor();
    await page.getByRole('button', { name: /^Language|That of the organisation/ }).click();
    await page.getByRole('option', { name: 'German' }).click();
    await page.frameLocator('iframe').getByText('Guten Tag <img src=x onerror=alert(1)>,').waitFor();
    const getColour = () =>
      frame
        .locator('.card')
        .first()
        .evaluate((card) => getComputedStyle(card).backgroundColor);
    const light = await getColour();
    await page.getByRole('radio', { name: 'Dark' }).click();
    await page.waitForURL(/theme=dark/);
    await waitFor(async () => (await getColour()) !== light, { what: 'the dark theme' });
    await page.getByRole('radio', { name: 'Phone' }).click();
    await page.waitForURL(/size=phone/);
    expect((await page.locator('iframe').boundingBox())?.width).toBeLessThanOrEqual(375);
    await page.getByRole('radio', { name: 'Text' }).click();
    await page.getByText('Einladung annehmen').waitFor();
    using.allowFaults(/400/);
    await page.getByLabel('Invitation link').fill('javascript:alert(1)');
    await page.getByText('must be a link that starts with https://').waitFor();
  });
});
