import { describeWith } from '@platform/testing';
import { appFields, connectApp } from '../screenshots/connect-app.mjs';
import { copy, findBarriers, useConsole } from './console.js';

describeWith('chromium', 'the screens of applications and service accounts', () => {
  const using = useConsole();

  /** Asks for a token as the application itself. */
  async function requestToken(clientId: string, secret: string): Promise<number> {
    const response = await fetch(`${using.platform.url}/oauth2/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}` },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        scope: 'user:read',
        resource: `${using.platform.url}/mcp`,
      }),
    });
    return response.status;
  }

  test('registers a service with a secret that is shown once, rolls the secret over, and ends it', async () => {
    const page = await using.open('/organisation/applications');
    await page.getByText('No application is registered').waitFor();
    await page.getByRole('button', { name: 'New application' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Nightly job');
    await dialog.getByText(/^By itself/).click();
    await dialog.getByText('user:read').click();
    await dialog.getByText('Limit it further').click();
    await dialog.getByText('whoami', { exact: true }).click();
    expect(await findBarriers(page, '[role=dialog]')).toEqual([]);
    await page.getByRole('button', { name: 'Create application' }).click();
    await page.getByText('shown this once').waitFor();
    expect(await findBarriers(page, '[role=dialog]')).toEqual([]);
    const clientId = await copy(page, 'Client id');
    const first = await copy(page, 'Client secret');
    expect(await requestToken(clientId, first)).toBe(200);
    await page.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'detached' });
    // UI-3
    const everything = await page.evaluate<string>(
      `document.documentElement.outerHTML + location.href + JSON.stringify([localStorage, sessionStorage])`,
    );
    expect(everything).not.toContain(first);

    await page.getByRole('row').filter({ hasText: 'Nightly job' }).click();
    await page.getByRole('heading', { level: 1, name: 'Nightly job' }).waitFor();
    await page.getByText('Tools: whoami', { exact: true }).waitFor();
    // What it has is ticked, and "no tool" is shown as such.
    await page.getByRole('button', { name: 'Edit…' }).click();
    await dialog.getByText('Limit it further').click();
    expect(await dialog.getByRole('checkbox', { name: 'whoami' }).isChecked()).toBe(true);
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Nightly job');
    await dialog.getByText('whoami', { exact: true }).click();
    await dialog.getByText('No tool', { exact: true }).click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Tools: none', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'New secret…' }).click();
    await page.getByRole('button', { name: 'Create secret' }).click();
    await copy(page, 'Client secret');
    await page.getByRole('button', { name: 'Done' }).click();
    // Two is the most.
    await page.getByRole('button', { name: 'New secret…' }).waitFor({ state: 'detached' });
    await page
      .getByRole('button', { name: /^Actions for the secret of/ })
      .first()
      .click();
    await page.getByRole('menuitem', { name: 'Revoke…' }).click();
    await page.getByRole('button', { name: 'Revoke secret' }).click();
    await page.getByText('The secret is revoked.').waitFor();

    await page.getByRole('button', { name: 'Disable…' }).click();
    await page.getByRole('heading', { name: 'Disable “Nightly job”?' }).waitFor();
    await page.getByRole('button', { name: 'Disable', exact: true }).click();
    await page.getByText('“Nightly job” is disabled.').waitFor();
    await page.getByRole('button', { name: 'Enable…' }).click();
    await page.getByRole('button', { name: 'Enable', exact: true }).click();
    await page.getByText('“Nightly job” is enabled.').waitFor();

    await page.getByRole('button', { name: 'Remove…' }).click();
    await page.getByRole('heading', { name: 'Remove “Nightly job”?' }).waitFor();
    await page.getByRole('button', { name: 'Remove application' }).click();
    await page.getByText('“Nightly job” is removed.').waitFor();
    await page.getByText('No application is registered').waitFor();
  });

  test('registers a public client, which has no secret, says what is wrong with it, and changes it', async () => {
    using.allowFaults(/400/);
    const page = await using.open('/organisation/applications');
    await page.getByRole('button', { name: 'New application' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Desk agent');
    await page.getByRole('button', { name: /How it proves who it is/ }).click();
    await page.getByRole('option', { name: /^Not at all/ }).click();
    const redirects = page.getByRole('textbox', { name: 'Redirect URIs' });
    await redirects.fill('http://example.com/callback');
    await page.getByRole('dialog').getByText('user:read').click();
    await page.getByRole('button', { name: 'Create application' }).click();
    await page
      .getByText('“http://example.com/callback” must be https:, or http: of a loopback address')
      .waitFor();
    await redirects.fill('http://127.0.0.1/callback');
    await page.getByRole('button', { name: 'Create application' }).click();
    await page.getByRole('button', { name: 'Copy: Client id' }).waitFor();
    expect(await page.getByRole('button', { name: 'Copy: Client secret' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Done' }).click();

    await page.getByRole('row').filter({ hasText: 'Desk agent' }).click();
    await page.getByRole('button', { name: 'Edit…' }).click();
    expect(await redirects.inputValue()).toBe('http://127.0.0.1/callback');
    await redirects.fill('https://agent.example.com/callback');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The application is changed.').waitFor();
    await page.getByText('https://agent.example.com/callback').waitFor();
  });

  test('refuses keys that are not JSON before anything is sent', async () => {
    const page = await using.open('/organisation/applications?do=new');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Signer');
    await dialog.getByText(/^By itself/).click();
    await dialog.getByRole('button', { name: /How it proves who it is/ }).click();
    await page.getByRole('option', { name: /^By a key/ }).click();
    await dialog.getByRole('textbox', { name: 'Public keys' }).fill('-----BEGIN PUBLIC KEY-----');
    await dialog.getByText('user:read').click();
    await dialog.getByRole('button', { name: 'Create application' }).click();
    await dialog.getByText('This is not JSON.').waitFor();
  });

  test('shows which connections a policy would end, and ends them only then', async () => {
    const { url, call, admin } = using.platform;
    const scopes = ['crawl:read'];
    const { application } = await call<{ application: { clientId: string } }>(
      'POST',
      '/api/v1/oauth-applications',
      appFields('Connected agent', scopes),
    );
    const page = await using.open('/account');
    await connectApp(page, { url, clientId: application.clientId, scopes });
    const readKinds = async () =>
      (await call<{ policy: { clientKinds: string[] } }>('GET', '/api/v1/organisation/connection-policy'))
        .policy.clientKinds;
    const before = await readKinds();

    await page.goto(`${url}/organisation/token-policy`);
    await page.getByRole('button', { name: 'Change what may connect…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Registered by an administrator').click();
    const hosts = dialog.getByLabel('Hosts of such documents');
    await hosts.fill('Agent.example.com');
    await page.getByRole('button', { name: 'Check what it ends' }).click();
    const ended = page.getByRole('region', { name: /One connection is not within this policy/ });
    await ended.getByText(`Connected agent · ${admin.email}`).waitFor();
    expect(await findBarriers(page, '[role=dialog]')).toEqual([]);
    expect(await readKinds()).toEqual(before);

    await page.getByRole('button', { name: 'Back' }).click();
    expect(await hosts.inputValue()).toBe('agent.example.com');
    await page.getByRole('button', { name: 'Check what it ends' }).click();
    await page.getByRole('button', { name: 'Save and end them' }).click();
    await page.getByText('The policy is saved, and one connection has ended.').waitFor();
    await page.getByText('agent.example.com').waitFor();
    expect(await readKinds()).toEqual(['document', 'registered']);
  });

  test('gives a service account a token with what its role can use, edits and rotates it, and ends both', async () => {
    const { url } = using.platform;
    const page = await using.open('/organisation/service-accounts');
    await page.getByRole('button', { name: 'New service account' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Nightly export');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByText('Nightly export is created.').waitFor();
    await page.getByRole('row').filter({ hasText: 'Nightly export' }).click();
    await page.getByText('It has no tokens').waitFor();
    await page.getByRole('button', { name: 'New token' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Export host');
    // What an agent that reads needs is chosen already.
    expect(await dialog.getByRole('checkbox', { name: /user:read/ }).isChecked()).toBe(true);
    // Scopes that depend on a person, and those of administrators, are not offered.
    for (const scope of ['semantic:write', 'pat:write', 'SEND_MAIL', 'crawl:read'])
      expect(await dialog.getByText(scope, { exact: true }).count()).toBe(0);
    await dialog.getByRole('button', { name: 'Create token' }).click();
    const token = await copy(page, 'Token');
    const response = await fetch(`${url}/api/v1/users/me`, { headers: { authorization: `Bearer ${token}` } });
    expect(response.status).toBe(200);
    await dialog.getByRole('button', { name: 'Done' }).click();

    const choose = async (action: string): Promise<void> => {
      await page.getByRole('button', { name: 'Actions for Export host' }).click();
      await page.getByRole('menuitem', { name: action }).click();
    };
    await choose('Edit…');
    await dialog.getByRole('checkbox', { name: 'Mail before and when it expires' }).press(' ');
    await dialog.getByRole('textbox', { name: 'Description' }).fill('Runs at night');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The token is changed.').waitFor();
    await choose('Edit…');
    expect(await dialog.getByRole('textbox', { name: 'Description' }).inputValue()).toBe('Runs at night');
    const notices = dialog.getByRole('checkbox', { name: 'Mail before and when it expires' });
    expect(await notices.isChecked()).toBe(false);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await choose('Rotate…');
    await dialog.getByRole('button', { name: /The old token works for another/ }).click();
    await page.getByRole('option', { name: /it ends at once/ }).click();
    await dialog.getByRole('button', { name: 'Create the new token' }).click();
    expect(await copy(page, 'Token')).not.toBe(token);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await choose('Revoke…');
    await dialog.getByRole('button', { name: 'Revoke token' }).click();
    await page.getByText('“Export host” is revoked.').waitFor();
    await page.getByRole('button', { name: 'Remove…' }).click();
    await page.getByRole('button', { name: 'Remove account' }).click();
    await page.getByText('“Nightly export” is removed.').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Service accounts' }).waitFor();
  });
});
