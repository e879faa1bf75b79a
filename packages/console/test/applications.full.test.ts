import { describeWith } from '@platform/testing';
import { appFields, connectApp } from '../screenshots/connect-app.mjs';
import { copy, findBarriers, useConsole } from './console.js';
import { waitForFocus, waitForFocusIn } from './focus.js';

describeWith('chromium', 'the screens of applications', () => {
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

  const callTools = async (token: string): Promise<number> =>
    (
      await fetch(`${using.platform.url}/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      })
    ).status;

  test('registers a service with a secret that is shown once, rolls the secret over, and ends it', async () => {
    const page = await using.open('/organisation/applications');
    await page.getByText('No application is registered').waitFor();
    await page.getByRole('button', { name: 'New application' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Nightly job');
    await page
      .getByRole('dialog')
      .getByText(/^By itself/)
      .click();
    await page.getByRole('dialog').getByText('user:read').click();
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create application' }).click();
    await page.getByText('shown this once').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    const clientId = await copy(page, 'Client id');
    const first = await copy(page, 'Client secret');
    expect(await requestToken(clientId, first)).toBe(200);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const everything = await page.evaluate<string>(
      `document.documentElement.outerHTML + location.href + JSON.stringify([localStorage, sessionStorage])`,
    );
    expect(everything).not.toContain(first);

    await page.getByRole('row').filter({ hasText: 'Nightly job' }).click();
    await page.getByRole('heading', { level: 1, name: 'Nightly job' }).waitFor();
    await page.getByRole('button', { name: 'New secret…' }).click();
    await page.getByRole('button', { name: 'Create secret' }).click();
    const second = await copy(page, 'Client secret');
    await page.getByRole('button', { name: 'Done' }).click();
    // Two is the most.
    await page.getByRole('button', { name: 'New secret…' }).waitFor({ state: 'detached' });
    expect([await requestToken(clientId, first), await requestToken(clientId, second)]).toEqual([200, 200]);
    await page
      .getByRole('button', { name: /^Actions for the secret of/ })
      .first()
      .click();
    await page.getByRole('menuitem', { name: 'Revoke…' }).click();
    await page.getByRole('button', { name: 'Revoke secret' }).click();
    await page.getByText('The secret is revoked.').waitFor();
    const statuses = [await requestToken(clientId, first), await requestToken(clientId, second)];
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 401]);
    const living = statuses[0] === 200 ? first : second;

    await page.getByRole('button', { name: 'Disable…' }).click();
    await page.getByRole('heading', { name: 'Disable “Nightly job”?' }).waitFor();
    await page.getByRole('button', { name: 'Disable', exact: true }).click();
    await page.getByText('“Nightly job” is disabled.').waitFor();
    expect(await requestToken(clientId, living)).toBe(401);
    await page.getByRole('button', { name: 'Enable…' }).click();
    await page.getByRole('button', { name: 'Enable', exact: true }).click();
    await page.getByText('“Nightly job” is enabled.').waitFor();
    expect(await requestToken(clientId, living)).toBe(200);

    await page.getByRole('button', { name: 'Remove…' }).click();
    await page.getByRole('heading', { name: 'Remove “Nightly job”?' }).waitFor();
    await page.getByRole('button', { name: 'Remove application' }).click();
    await page.getByText('“Nightly job” is removed.').waitFor();
    await page.getByText('No application is registered').waitFor();
    expect(await requestToken(clientId, living)).toBe(401);
  });

  test('registers a public client by keyboard, says what is wrong with it, and changes it', async () => {
    using.allowFaults(/400/);
    const page = await using.open('/organisation/applications');
    const { keyboard } = page;
    await page.getByRole('button', { name: 'New application' }).focus();
    await keyboard.press('Enter');
    await waitForFocusIn(page.getByRole('textbox', { name: 'Name' }));
    await keyboard.type('Desk agent');
    await page.getByRole('button', { name: /How it proves who it is/ }).focus();
    await keyboard.press('Enter');
    await waitForFocusIn(page.getByRole('listbox'));
    await keyboard.type('Not at all');
    await keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'Redirect URIs' }).focus();
    await keyboard.type('http://example.com/callback');
    await page.getByRole('checkbox', { name: /user:read/ }).focus();
    await keyboard.press('Space');
    await page.getByRole('textbox', { name: 'Name' }).focus();
    await keyboard.press('Enter');
    await page
      .getByText('“http://example.com/callback” must be https:, or http: of a loopback address')
      .waitFor();
    await page.getByRole('textbox', { name: 'Redirect URIs' }).fill('http://127.0.0.1/callback');
    await page.getByRole('button', { name: 'Create application' }).focus();
    await keyboard.press('Enter');
    await page.getByRole('button', { name: 'Copy: Client id' }).waitFor();
    expect(await page.getByRole('button', { name: 'Copy: Client secret' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Done' }).focus();
    await keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await waitForFocus(page, 'New application');

    await page.getByRole('row').filter({ hasText: 'Desk agent' }).click();
    await page.getByText('http://127.0.0.1/callback').waitFor();
    await page.getByRole('button', { name: 'Edit…' }).click();
    await page.getByRole('textbox', { name: 'Redirect URIs' }).fill('https://agent.example.com/callback');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The application is changed.').waitFor();
    await page.getByText('https://agent.example.com/callback').waitFor();
  });

  test('refuses keys that are not JSON before anything is sent', async () => {
    const page = await using.open('/organisation/applications');
    await page.getByRole('button', { name: 'New application' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Signer');
    await page
      .getByRole('dialog')
      .getByText(/^By itself/)
      .click();
    await page.getByRole('button', { name: /How it proves who it is/ }).click();
    await page.getByRole('option', { name: /^By a key/ }).click();
    await page.getByRole('textbox', { name: 'Public keys' }).fill('-----BEGIN PUBLIC KEY-----');
    await page.getByRole('dialog').getByText('user:read').click();
    await page.getByRole('button', { name: 'Create application' }).click();
    await page.getByText('This is not JSON.').waitFor();
    expect(await page.getByRole('dialog').isVisible()).toBe(true);
  });

  test('shows which connections a policy would end, and ends them only then', async () => {
    const { url, call } = using.platform;
    const scopes = ['crawl:read'];
    const { application } = await call<{ application: { clientId: string } }>(
      'POST',
      '/api/v1/oauth-applications',
      appFields('Desk agent', scopes),
    );
    const page = await using.open('/account');
    const { accessToken } = await connectApp(page, { url, clientId: application.clientId, scopes });
    const readKinds = async () =>
      (await call<{ policy: { clientKinds: string[] } }>('GET', '/api/v1/organisation/connection-policy'))
        .policy.clientKinds;
    const before = await readKinds();

    await page.goto(`${url}/organisation/token-policy`);
    await page.getByRole('button', { name: 'Change what may connect…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Registered by an administrator').click();
    await dialog.getByLabel('Hosts of such documents').fill('not a host!');
    using.allowFaults(/400/);
    await page.getByRole('button', { name: 'Check what it ends' }).click();
    await page.getByText(/^“host!” /).waitFor();
    await dialog.getByLabel('Hosts of such documents').fill('Agent.example.com');
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole('button', { name: 'Check what it ends' }).click();
    const ended = page.getByRole('region', { name: /One connection is not within this policy/ });
    await ended.getByText(`Desk agent · ${using.platform.admin.email}`).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    expect([await readKinds(), await callTools(accessToken)]).toEqual([before, 200]);

    await page.getByRole('button', { name: 'Back' }).click();
    expect(await dialog.getByLabel('Hosts of such documents').inputValue()).toBe('agent.example.com');
    await page.getByRole('button', { name: 'Check what it ends' }).click();
    await page.getByRole('button', { name: 'Save and end them' }).click();
    await page.getByText('The policy is saved, and one connection has ended.').waitFor();
    await page.getByText('agent.example.com').waitFor();
    expect([await readKinds(), await callTools(accessToken)]).toEqual([['document', 'registered'], 401]);
  });

  test('gives a service account a token that works, rotates it, and ends both', async () => {
    const page = await using.open('/organisation/service-accounts');
    await page.getByRole('button', { name: 'New service account' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Nightly export');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByText('Nightly export is created.').waitFor();
    await page.getByRole('row').filter({ hasText: 'Nightly export' }).click();
    await page.getByText('It has no tokens').waitFor();
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Export host');
    const dialog = page.getByRole('dialog');
    // What an agent that reads needs is chosen already.
    expect(await dialog.getByRole('checkbox', { name: /user:read/ }).isChecked()).toBe(true);
    // Scopes that depend on a person, and those of administrators, are not offered.
    for (const scope of ['kb:read', 'pat:write', 'SEND_MAIL'])
      expect(await dialog.getByText(scope, { exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByText('shown this once').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    const first = await copy(page, 'Token');
    expect(await callTools(first)).toBe(200);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('row').filter({ hasText: 'Export host' }).waitFor();
    await page.getByRole('button', { name: 'Actions for Export host' }).click();
    await page.getByRole('menuitem', { name: 'Edit…' }).click();
    await page.getByRole('checkbox', { name: 'Mail before and when it expires' }).press(' ');
    await page.getByRole('textbox', { name: 'Description' }).fill('Runs at night');
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The token is changed.').waitFor();
    await page.getByRole('button', { name: 'Actions for Export host' }).click();
    await page.getByRole('menuitem', { name: 'Edit…' }).click();
    expect(await page.getByRole('textbox', { name: 'Description' }).inputValue()).toBe('Runs at night');
    expect(await page.getByRole('checkbox', { name: 'Mail before and when it expires' }).isChecked()).toBe(
      false,
    );
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Actions for Export host' }).click();
    await page.getByRole('menuitem', { name: 'Rotate…' }).click();
    await page.getByRole('button', { name: /The old token works for another/ }).click();
    await page.getByRole('option', { name: /it ends at once/ }).click();
    await page.getByRole('button', { name: 'Create the new token' }).click();
    await page.getByText('shown this once').waitFor();
    const second = await copy(page, 'Token');
    expect([await callTools(first), await callTools(second)]).toEqual([401, 200]);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Actions for Export host' }).click();
    await page.getByRole('menuitem', { name: 'Revoke…' }).click();
    await page.getByRole('button', { name: 'Revoke token' }).click();
    await page.getByText('“Export host” is revoked.').waitFor();
    expect(await callTools(second)).toBe(401);
    await page.getByRole('button', { name: 'Remove…' }).click();
    await page.getByRole('button', { name: 'Remove account' }).click();
    await page.getByText('“Nightly export” is removed.').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Service accounts' }).waitFor();
  });
});
