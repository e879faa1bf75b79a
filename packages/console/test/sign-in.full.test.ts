import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeWith } from '@platform/testing';
import { Secret, TOTP } from 'otpauth';
import { findBarriers, useConsole } from './console.js';

const SETTINGS = '/api/v1/configurationManager/signInConfig';
const PROVIDER = '/api/v1/organisation/identity-provider';

/** An identity provider as far as its metadata go. */
async function startMetadata() {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
      }),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

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
    await page.getByRole('button', { name: 'Continue' }).click();
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

  test('names one’s passkeys, and shows administrators who has a second factor', async () => {
    const joan = await using.platform.createMember('Joan Clarke');
    const page = await using.open('/account', { as: joan });
    const cdp = await page.context().newCDPSession(page);
    await cdp.send('WebAuthn.enable');
    const device = { protocol: 'ctap2', transport: 'internal', hasUserVerification: true } as const;
    await cdp.send('WebAuthn.addVirtualAuthenticator', { options: { ...device, isUserVerified: true } });
    const row = page.getByRole('listitem').filter({ hasText: 'Second factor' });
    await row.getByRole('link', { name: 'Set up' }).click();
    await page.getByRole('link', { name: 'Add a passkey' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByLabel('Name').fill('Work laptop');
    await page.getByRole('button', { name: 'Create the passkey' }).click();
    await page.getByRole('link', { name: 'I have saved them' }).click();
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole('link', { name: 'Back' }).click();
    await row.getByText('A passkey: Work laptop. 10 recovery codes are left.').waitFor();
    await using.platform.createMember('Karen Jones');
    const members = await using.open('/organisation/members');
    await members
      .getByRole('row', { name: /Joan Clarke/ })
      .getByText('Passkey')
      .waitFor();
    await members
      .getByRole('row', { name: /Karen Jones/ })
      .getByText('None')
      .waitFor();
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

  test('sets an identity provider up, tests it, adds a domain, and removes both', async () => {
    const provider = await startMetadata();
    try {
      const page = await using.open('/organisation/sign-in');
      const section = page.locator('section').filter({ hasText: 'No provider is set up' });
      await section.getByRole('button', { name: 'Set up…' }).click();
      await page.getByText('/sign-in/provider/callback').waitFor();
      await page.getByLabel('Issuer').fill(provider.issuer);
      await page.getByLabel('Client id').fill('platform');
      await page.getByLabel('Client secret').fill('a-secret-of-the-client');
      expect(await findBarriers(page)).toEqual([]);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('The identity provider is saved.').waitFor();
      await page.getByRole('button', { name: 'Test' }).click();
      await page.getByText('It works').waitFor();

      await page.getByRole('button', { name: 'Add a domain…' }).click();
      await page.getByRole('textbox', { name: 'Domain' }).fill('Example.org');
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      await page.getByText('_workspace-platform.example.org').waitFor();
      await page.getByText('Not verified').waitFor();
      expect(await findBarriers(page)).toEqual([]);

      // A secret that is left out stays.
      await page.getByRole('button', { name: 'Change…' }).click();
      await page.getByText('Just-in-time membership').click();
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Everybody of the verified domains, as a member').waitFor();
      const { identityProvider } = await using.platform.call<{ identityProvider: object }>('GET', PROVIDER);
      expect(identityProvider).toMatchObject({
        hasClientSecret: true,
        justInTimeMembership: true,
        required: false,
      });

      await page.getByRole('button', { name: 'Remove example.org…' }).click();
      await page.getByRole('button', { name: 'Remove it' }).click();
      await page.getByText('No domain yet').waitFor();
      await page.getByRole('button', { name: 'Remove…', exact: true }).click();
      await page.getByRole('button', { name: 'Remove it' }).click();
      await page.getByText('No provider is set up').waitFor();
    } finally {
      await provider.close();
    }
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
