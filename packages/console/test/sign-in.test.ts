import { describeWith } from '@platform/testing';
import { Secret, TOTP } from 'otpauth';
import { findBarriers, useConsole } from './console.js';

const SETTINGS = '/api/v1/configurationManager/signInConfig';

describeWith('chromium', 'how people sign in', () => {
  const using = useConsole();

  const readSettings = async () => (await using.platform.call<{ signIn: object }>('GET', SETTINGS)).signIn;

  test('shows one’s second factor, and leads to the page that changes it', async () => {
    const mary = await using.platform.createMember('Mary Member');
    const page = await using.open('/account', { as: mary });
    const row = page.getByRole('listitem').filter({ hasText: 'Second factor' });
    await row.getByText('You have none.').waitFor();
    await row.getByRole('link', { name: 'Set up' }).click();
    await page.waitForURL(/\/sign-in\/security/);
    await page.getByRole('link', { name: 'Set up an authenticator app' }).click();
    await page.getByLabel('Your password').fill(mary.password);
    await page.keyboard.press('Enter');
    const key = ((await page.locator('code').first().textContent()) ?? '').replaceAll(' ', '');
    await page
      .getByRole('textbox', { name: 'Code' })
      .fill(new TOTP({ secret: Secret.fromBase32(key) }).generate());
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'I have saved them' }).waitFor();

    await page.goto(`${using.platform.url}/account`);
    await row.getByText(/An authenticator app, since .+10 recovery codes are left/).waitFor();
    await row.getByRole('link', { name: 'Change' }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
  });

  test('switches codes by mail off and on, and leaves the second factor as it is', async () => {
    const before = { codesEnabled: true, secondFactorRequired: false };
    await using.platform.call('POST', SETTINGS, before);
    const page = await using.open('/organisation/sign-in');
    const row = page.getByRole('listitem').filter({ hasText: 'Codes by mail' });
    await row.getByRole('button', { name: 'Switch off…' }).click();
    await page.getByRole('button', { name: 'Switch codes off' }).click();
    await row.getByText('Members need their password.').waitFor();
    expect(await readSettings()).toEqual({ ...before, codesEnabled: false });
    await row.getByRole('button', { name: 'Switch on…' }).click();
    await page.getByRole('button', { name: 'Switch codes on' }).click();
    await row.getByRole('button', { name: 'Switch off…' }).waitFor();
    expect(await readSettings()).toEqual(before);
  });

  // Last, because it also ends the administrator's other sessions.
  test('requires a second factor, signs out whoever has none, and releases it', async () => {
    const ada = await using.platform.createMember('Ada Lovelace');
    await using.platform.call('GET', '/api/v1/users/me', undefined, ada);
    const page = await using.open('/organisation/sign-in');
    const row = page.getByRole('listitem').filter({ hasText: 'Second factor' });
    await row.getByText('Each member decides.').waitFor();
    await row.getByRole('button', { name: 'Require…' }).click();
    await page.getByText('They are signed out').click();
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole('button', { name: 'Require it' }).click();
    await page.getByText(/A second factor is required, and .+ ended\./).waitFor();
    await row.getByText(/^Required\./).waitFor();
    await expect(using.platform.call('GET', '/api/v1/users/me', undefined, ada)).rejects.toThrow('401');

    await row.getByRole('button', { name: 'Stop requiring…' }).click();
    await page.getByRole('button', { name: 'Stop requiring it' }).click();
    await page.getByText('A second factor is no longer required.').waitFor();
    await row.getByText('Each member decides.').waitFor();
  });
});
