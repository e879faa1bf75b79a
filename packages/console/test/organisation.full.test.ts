import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeWith } from '@platform/testing';
import { copy, findBarriers, findBarriersInThemes, useConsole } from './console.js';
import { expectSoundDialog } from './dialog-checks.js';

const SMTP = '/api/v1/configurationManager/smtpConfig';
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

describeWith('chromium', 'the screens of the organisation', () => {
  const using = useConsole();

  test('invites a member, again, changes the role, and cancels the invitation', async () => {
    const page = await using.open('/organisation/members');
    await page.getByRole('button', { name: 'Invite a member' }).click();
    await page.getByLabel('E-mail address').fill('grace@example.com');
    await page.getByLabel('Full name').fill('Grace Hopper');
    await page.getByRole('button', { name: 'Send the invitation' }).click();
    await page.getByText('grace@example.com is invited by mail.').waitFor();
    const row = page.getByRole('row', { name: /Grace Hopper/ });
    await row.getByText('Invited').waitFor();
    const choose = async (action: string): Promise<void> => {
      await page.getByRole('button', { name: 'Actions for Grace Hopper' }).click();
      await page.getByRole('menuitem', { name: action }).click();
    };
    await choose('Send the invitation again…');
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('grace@example.com is invited by mail.').waitFor();
    await choose('Make administrator…');
    await page.getByRole('button', { name: 'Change the role' }).click();
    await row.getByText('Administrator').waitFor();
    await choose('Cancel the invitation…');
    await page
      .getByRole('heading', { name: 'Cancel the invitation of Grace Hopper (grace@example.com)?' })
      .waitFor();
    await page.getByRole('button', { name: 'Cancel the invitation', exact: true }).click();
    await row.waitFor({ state: 'detached' });
  });

  test('invites by a link to copy where there is no SMTP server, and says when it was accepted meanwhile', async () => {
    const { call, admin } = using.platform;
    const { smtp } = await call<{ smtp: { hasPassword: boolean } }>('GET', SMTP);
    const { hasPassword: _, ...saved } = smtp;
    await call('DELETE', SMTP);
    using.allowFaults(/404/);
    try {
      const page = await using.open('/organisation/members');
      await page.getByRole('button', { name: 'Invite a member' }).click();
      await page.getByLabel('E-mail address').fill('barbara@example.com');
      await page.getByLabel('Full name').fill('Barbara Liskov');
      await page.getByRole('button', { name: 'Send the invitation' }).click();
      await page.getByRole('heading', { name: 'Barbara Liskov is invited' }).waitFor();
      await expectSoundDialog(page);
      const link = await copy(page, 'Invitation link');
      await page.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('row', { name: /Barbara Liskov/ }).waitFor();
      const guest = await page.context().browser()?.newContext();
      const invitation = await guest?.newPage();
      await invitation?.goto(link);
      await invitation?.getByText('barbara@example.com').first().waitFor();
      await invitation?.getByLabel('Password', { exact: true }).fill(admin.password);
      await invitation?.keyboard.press('Enter');
      await invitation?.waitForURL((url) => !url.pathname.startsWith('/sign-in/invite'));
      await guest?.close();

      // The list still shows an invitation, which has become a member meanwhile.
      using.allowFaults(/409/);
      await page.getByRole('button', { name: 'Actions for Barbara Liskov' }).click();
      await page.getByRole('menuitem', { name: 'Cancel the invitation…' }).click();
      await page.getByRole('button', { name: 'Cancel the invitation', exact: true }).click();
      await page.getByRole('alert').getByText('has accepted the invitation already').waitFor();
      await page.getByRole('button', { name: 'Keep it' }).click();
      await page
        .getByRole('row', { name: /Barbara Liskov/ })
        .getByText('Joined')
        .waitFor();
    } finally {
      await call('POST', SMTP, saved);
    }
  });

  test('ends the sessions of a member, and lists what ends with the removal', async () => {
    const joan = await using.platform.createMember('Joan Clarke');
    const fields = { name: 'Her laptop', scopes: ['user:read'] };
    await using.platform.call('POST', '/api/v1/personal-access-tokens', fields, joan);
    const page = await using.open('/organisation/members');
    const choose = async (action: string): Promise<void> => {
      await page.getByRole('button', { name: 'Actions for Joan Clarke' }).click();
      await page.getByRole('menuitem', { name: action }).click();
    };
    const dialog = page.getByRole('dialog');
    // What ends is known before it can be ended.
    let answer = (): void => undefined;
    const isAnswered = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/removal', async (route) => {
      await isAnswered;
      await route.continue();
    });
    await choose('Remove…');
    const remove = dialog.getByRole('button', { name: 'Remove', exact: true });
    await remove.and(page.locator(':disabled')).waitFor();
    answer();
    await dialog.getByText('One open session ends.').waitFor();
    await dialog.getByText('Her laptop').waitFor();
    await dialog.getByText('No connected app acts for them.').waitFor();
    await remove.and(page.locator(':enabled')).waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await choose('End sessions…');
    await page.getByRole('heading', { name: 'End all sessions of Joan Clarke?' }).waitFor();
    await dialog.getByRole('row').filter({ hasText: '127.0.0.1' }).waitFor();
    await page.getByRole('button', { name: 'End all sessions' }).click();
    await page.getByText('One session has ended.').waitFor();
    await choose('Remove…');
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('Joan Clarke is removed.').waitFor();
  });

  test('UI-25 the page of a member says what acts for them, and removes them once it is known what stops', async () => {
    const { call, createMember } = using.platform;
    const ida = await createMember('Ida Rhodes');
    await call('POST', '/api/v1/personal-access-tokens', { name: 'Notes agent', scopes: ['user:read'] }, ida);
    const { group } = await call<{ group: { id: string } }>('POST', '/api/v1/groups', { name: 'Calendar' });
    const found = await call<{ data: { id: string }[] }>('GET', '/api/v1/users?q=Ida');
    const setRole = (role: string) => call('PATCH', `/api/v1/users/${found.data[0]?.id}`, { role });
    await setRole('admin');
    await call('POST', '/api/v1/service-accounts', { name: 'Nightly backup' }, ida);
    await setRole('member');
    const { data } = await call<{ data: { id: string }[] }>('GET', '/api/v1/users?q=Ida');
    await call('PUT', `/api/v1/groups/${group.id}/members/${data[0]?.id}`);
    const page = await using.open('/organisation/members');
    await page.getByRole('link', { name: /Ida Rhodes/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Ida Rhodes' }).waitFor();
    await page.getByText('Notes agent').waitFor();
    await page.getByRole('link', { name: 'Calendar' }).waitFor();
    await page.getByText('One service account that they have set up keeps working:').waitFor();
    await page.getByRole('link', { name: 'Nightly backup' }).waitFor();
    await page.getByRole('heading', { name: 'Tools of MCP servers that they can use' }).waitFor();
    expect(await page.getByRole('link', { name: 'What they did' }).getAttribute('href')).toContain('actor=');
    expect(await findBarriersInThemes(page, 'main')).toEqual([]);
    await page.getByRole('button', { name: 'Make administrator…' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.route('**/removal', (route) => route.abort());
    await page.reload();
    using.allowFaults(/ERR_FAILED/);
    await page.getByRole('heading', { level: 1, name: 'Ida Rhodes' }).waitFor();
    await page.getByRole('button', { name: 'Remove…' }).click();
    const remove = page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true });
    await remove.and(page.locator(':disabled')).waitFor();
    await page.unroute('**/removal');
    await page.getByRole('dialog').getByText('Notes agent').waitFor();
    await remove.and(page.locator(':enabled')).click();
    await page.getByText('Ida Rhodes is removed.').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor();
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
  test('switches codes by mail off, requires a second factor, and takes both back, one without the other', async () => {
    const before = { codesEnabled: true, secondFactorRequired: false };
    const readSettings = async () => (await using.platform.call<{ signIn: object }>('GET', SETTINGS)).signIn;
    await using.platform.call('POST', SETTINGS, before);
    await using.platform.createMember('Ada Lovelace');
    const page = await using.open('/organisation/sign-in');
    const codes = page.getByRole('listitem').filter({ hasText: 'Codes by mail' });
    await codes.getByRole('button', { name: 'Switch off…' }).click();
    await page.getByRole('button', { name: 'Switch codes off' }).click();
    await codes.getByText('Members need their password.').waitFor();
    expect(await readSettings()).toEqual({ ...before, codesEnabled: false });

    const factor = page.getByRole('listitem').filter({ hasText: 'Second factor' });
    await factor.getByText('Each member decides.').waitFor();
    await factor.getByRole('button', { name: 'Require…' }).click();
    await page.getByText('They are signed out').click();
    await page.getByRole('button', { name: 'Require it' }).click();
    await page.getByText(/A second factor is required, and .+ ended\./).waitFor();
    await factor.getByText(/^Required\./).waitFor();
    await codes.getByRole('button', { name: 'Switch on…' }).click();
    await page.getByRole('button', { name: 'Switch codes on' }).click();
    await codes.getByRole('button', { name: 'Switch off…' }).waitFor();
    await factor.getByRole('button', { name: 'Stop requiring…' }).click();
    await page.getByRole('button', { name: 'Stop requiring it' }).click();
    await page.getByText('A second factor is no longer required.').waitFor();
    await factor.getByText('Each member decides.').waitFor();
  });
});
