import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeWith } from '@platform/testing';
import { Secret, TOTP } from 'otpauth';
import { appFields, connectApp } from '../screenshots/connect-app.mjs';
import { findBarriers, findBarriersInLooks, useConsole } from './console.js';
import { expectSoundDialog } from './dialog-checks.js';

/** A receiver that repeats whatever it is sent, and so each challenge. */
async function startEcho() {
  const server = createServer((request, response) => void request.pipe(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

const NEW_PASSWORD = 'a-new-and-longer-passphrase';

describeWith('chromium', 'the screens of one’s own account', () => {
  const using = useConsole();

  test('UI-52 a browser keeps its theme, and the zone in which it shows times', async () => {
    const page = await using.open('/account');
    const ground = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
    const before = await ground();
    const choose = async (label: RegExp, option: string): Promise<void> => {
      await page.getByRole('button', { name: label }).click();
      await page.getByRole('option', { name: option, exact: true }).click();
    };
    await choose(/Theme$/, 'Dark');
    expect(await ground()).not.toBe(before);
    await choose(/Times are shown in$/, 'UTC');
    await page.getByRole('button', { name: /UTC/ }).waitFor();
    expect(await ground()).not.toBe(before);
    expect(await findBarriers(page)).toEqual([]);
    await page.goto(`${using.platform.url}/activity/audit`);
    await page.getByRole('columnheader', { name: 'When, UTC' }).waitFor();
    // What somebody else has written there is as nothing.
    await page.evaluate(`localStorage.setItem('look', '{"theme":[],"zone":')`);
    await page.reload();
    await page.getByRole('columnheader', { name: /^When/ }).waitFor();
    expect(await ground()).toBe(before);
  });

  test('changes the name and the password, which ends all other sessions', async () => {
    const mary = await using.platform.createMember('Mary Member');
    // A session elsewhere
    await using.platform.call('GET', '/api/v1/users/me', undefined, mary);
    const page = await using.open('/account', { as: mary });
    await page.getByRole('button', { name: 'Change name…' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Annie Easley');
    await page.getByRole('button', { name: 'Change name', exact: true }).click();
    await page.getByText('Your name is now Annie Easley.').waitFor();
    await page.getByRole('button', { name: /Annie Easley/ }).waitFor();

    await page.getByRole('button', { name: 'Change password…' }).click();
    await page.getByLabel('Current password').fill('not my password');
    await page.getByRole('textbox', { name: 'New password', exact: true }).fill(NEW_PASSWORD);
    await page.getByLabel('New password, again').fill('something else');
    await page.getByRole('button', { name: 'Change password', exact: true }).click();
    await page.getByText('The two new passwords differ.').waitFor();
    await page.getByLabel('New password, again').fill(NEW_PASSWORD);
    using.allowFaults(/400/);
    await page.getByRole('button', { name: 'Change password', exact: true }).click();
    await page.getByRole('alert').getByText('The current password is wrong').waitFor();
    await page.getByLabel('Current password').fill(mary.password);
    await page.getByRole('button', { name: 'Change password', exact: true }).click();
    await page.getByText(/Your password is changed, and one other session has ended/).waitFor();
    await page.getByRole('row').nth(2).waitFor({ state: 'detached' });
    await page.getByRole('row').filter({ hasText: 'This session' }).waitFor();
    // UI-3
    const stored = await page.evaluate<string>(
      'location.href + JSON.stringify([localStorage, sessionStorage])',
    );
    expect(stored).not.toContain(NEW_PASSWORD);
  });

  test('ends one session, then all others', async () => {
    const ada = await using.platform.createMember('Ada Lovelace');
    const agents = [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0',
      'curl/8.5.0',
    ];
    for (const agent of agents)
      await fetch(`${using.platform.url}/api/v1/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': agent },
        body: JSON.stringify(ada),
      });
    const page = await using.open('/account', { as: ada });
    const firefox = page.getByRole('row').filter({ hasText: 'Firefox on Windows' });
    await firefox.getByRole('button').click();
    await page.getByRole('menuitem', { name: 'End the session…' }).click();
    await page.getByRole('heading', { name: 'End the session of Firefox on Windows?' }).waitFor();
    await page.getByRole('button', { name: 'End the session', exact: true }).click();
    await page.getByText('The session has ended.').waitFor();
    await firefox.waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'End all others…' }).click();
    await page.getByRole('heading', { name: 'End all your other sessions?' }).waitFor();
    await page.getByRole('button', { name: 'End all others', exact: true }).click();
    await page.getByText('One session has ended.').waitFor();
    await page.getByRole('button', { name: 'End all others…' }).waitFor({ state: 'detached' });
    await page.getByRole('row').filter({ hasText: 'This session' }).waitFor();
  });

  test('shows what a connected app may do in words, and ends it', async () => {
    const { url, call, admin } = using.platform;
    const scopes = ['user:read', 'crawl:read'];
    const page = await using.open('/account');
    for (const name of ['Desk agent', 'Lost agent']) {
      type Registered = { application: { clientId: string } };
      const { application } = await call<Registered>(
        'POST',
        '/api/v1/oauth-applications',
        appFields(name, scopes),
      );
      await connectApp(page, { url, clientId: application.clientId, scopes });
    }
    await page.goto(`${url}/account/apps`);
    const row = page.getByRole('row').filter({ hasText: 'Lost agent' });
    await row.getByText('See your profile and the members').waitFor();
    await row.getByText('See crawl schedules, runs and queue statistics').waitFor();
    await page.getByRole('button', { name: 'Actions for Lost agent' }).click();
    await page.getByRole('menuitem', { name: 'End the connection…' }).click();
    await page.getByRole('heading', { name: 'End the connection of Lost agent?' }).waitFor();
    await expectSoundDialog(page);
    await page.getByLabel('Reason').fill('sold the machine');
    await page.getByRole('button', { name: 'End the connection', exact: true }).click();
    await page.getByText('The connection of Lost agent has ended.').waitFor();
    await row.waitFor({ state: 'detached' });

    // An administrator sees and ends everybody's connections.
    await page.getByRole('link', { name: 'Everyone’s' }).click();
    await page.waitForURL(/\/organisation\/apps/);
    await page.getByRole('row').filter({ hasText: 'Desk agent' }).getByText(admin.email).waitFor();
    await page.getByRole('button', { name: 'Actions for Desk agent' }).click();
    await page.getByRole('menuitem', { name: 'End the connection…' }).click();
    await page
      .getByRole('heading', { name: 'End the connection of Desk agent with Administrator?' })
      .waitFor();
    await page.getByRole('button', { name: 'End the connection', exact: true }).click();
    await page.getByText('No application acts for anybody').waitFor();
  });

  test('UI-22, UI-23 shows which events agents are sent to oneself and to administrators, and stops them', async () => {
    const { call, admin } = using.platform;
    const receiver = await startEcho();
    const follow = createFollow(receiver.url);
    await follow('Wiki reader', 'documents.changed', { connector: 'wiki_1' });
    await follow('Night watch', 'crawl.failing', { connector: 'wiki_1', minFailures: 3 });
    const page = await using.open('/account/apps');
    const table = page.getByRole('region', { name: 'Events that agents follow' });
    const row = table.getByRole('row').filter({ hasText: 'Documents changed' });
    await row.getByText('for Wiki reader').waitFor();
    await row.getByText(new URL(receiver.url).host).waitFor();
    await row.getByText('None in the last three days').waitFor();
    expect(await findBarriersInLooks(page)).toEqual([]);
    await page.getByRole('button', { name: 'Actions for Documents changed' }).click();
    await page.getByRole('menuitem', { name: 'Stop…' }).click();
    await page.getByRole('heading', { name: /Stop sending events to 127/ }).waitFor();
    await expectSoundDialog(page);
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByText('“Documents changed” is not sent any more.').waitFor();
    await row.waitFor({ state: 'detached' });

    // UI-23 An administrator sees and stops what is sent to everybody's agents.
    await page.getByRole('link', { name: 'Everyone’s' }).click();
    await page.waitForURL(/\/organisation\/apps/);
    await table.getByRole('row').filter({ hasText: 'for Night watch' }).getByText(admin.email).waitFor();
    await page
      .getByRole('button', { name: /Actions for/ })
      .last()
      .click();
    await page.getByRole('menuitem', { name: 'Stop…' }).click();
    await page.getByRole('heading', { name: /Stop sending events of Administrator to/ }).waitFor();
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await table.waitFor({ state: 'detached' });
    expect(await call('GET', '/api/v1/events/subscriptions/admin')).toMatchObject({ data: [] });
    await receiver.close();

    /** Lets an agent subscribe, with a token of the administrator. */
    function createFollow(url: string) {
      return async (name: string, event: string, args: object) => {
        type Created = { token: { accessToken: string } };
        const fields = { name, scopes: ['crawl:read'] };
        const { token } = await call<Created>('POST', '/api/v1/personal-access-tokens', fields);
        const delivery = { mode: 'webhook', url, secret: `whsec_${randomBytes(32).toString('base64')}` };
        const params = { name: event, arguments: args, delivery };
        const response = await fetch(`${using.platform.url}/mcp`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token.accessToken}`, 'content-type': 'application/json' },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'events/subscribe', params }),
        });
        expect(await response.json()).toMatchObject({ result: { truncated: false } });
      };
    }
  });

  test('sets an authenticator app up, and copies, saves and prints the recovery codes', async () => {
    const grace = await using.platform.createMember('Grace Hopper');
    const page = await using.open('/account', { as: grace });
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
    await page.getByRole('heading', { name: 'Keep your recovery codes' }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    const codes = `${(await page.locator('.codes code').allTextContents()).join('\n')}\n`;
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(codes);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download' }).click(),
    ]);
    expect(await readFile(await file.path(), 'utf8')).toBe(codes);
    await page.evaluate('window.print = () => { document.title = "printed"; }');
    await page.getByRole('button', { name: 'Print' }).click();
    expect(await page.title()).toBe('printed');

    await page.goto(`${using.platform.url}/account`);
    await row.getByText(/An authenticator app, since .+10 recovery codes are left/).waitFor();
    await row.getByRole('link', { name: 'Change' }).waitFor();
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
});
