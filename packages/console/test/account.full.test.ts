import { describeWith } from '@platform/testing';
import { appFields, connectApp } from '../screenshots/connect-app.mjs';
import { findBarriers, useConsole } from './console.js';
import { waitForFocusIn } from './focus.js';
import type { Person } from './platform.js';

const NEW_PASSWORD = 'a-new-and-longer-passphrase';

describeWith('chromium', 'the screens of one’s own account', () => {
  const using = useConsole();

  const canSignIn = async ({ email, password }: Person): Promise<boolean> => {
    const response = await fetch(`${using.platform.url}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    });
    return response.ok;
  };

  test('changes the password, which ends all other sessions', async () => {
    const mary = await using.platform.createMember('Mary Member');
    // A session elsewhere
    await using.platform.call('GET', '/api/v1/users/me', undefined, mary);
    const page = await using.open('/account', { as: mary });
    await page.getByRole('row').filter({ hasText: 'This session' }).waitFor();
    expect(await page.getByRole('row').count()).toBe(3);

    await page.getByRole('button', { name: 'Change password…' }).click();
    await page.getByLabel('Current password').fill('not my password');
    await page.getByRole('textbox', { name: 'New password', exact: true }).fill(NEW_PASSWORD);
    await page.getByLabel('New password, again').fill('something else');
    await page.getByRole('button', { name: 'Change password', exact: true }).click();
    await page.getByText('The two new passwords differ.').waitFor();
    await page.getByLabel('New password, again').fill(NEW_PASSWORD);
    expect(await findBarriers(page)).toEqual([]);

    using.allowFaults(/400/);
    await page.getByRole('button', { name: 'Change password', exact: true }).click();
    await page.getByRole('alert').getByText('The current password is wrong').waitFor();
    expect(await canSignIn(mary)).toBe(true);

    await page.getByLabel('Current password').fill(mary.password);
    await page.getByRole('button', { name: 'Change password', exact: true }).click();
    await page.getByText(/Your password is changed, and 2 other sessions have ended/).waitFor();
    await page.getByRole('row').nth(2).waitFor({ state: 'detached' });
    await page.getByRole('row').filter({ hasText: 'This session' }).waitFor();
    expect(await canSignIn(mary)).toBe(false);
    expect(await canSignIn({ ...mary, password: NEW_PASSWORD })).toBe(true);
    const stored = await page.evaluate<string>(
      'location.href + JSON.stringify([localStorage, sessionStorage])',
    );
    expect(stored).not.toContain(NEW_PASSWORD);
  });

  test('ends one session, then all others, by keyboard', async () => {
    const ada = await using.platform.createMember('Ada Lovelace');
    const url = `${using.platform.url}/api/v1/auth/login`;
    const signInWith = async (agent: string): Promise<string> => {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': agent },
        body: JSON.stringify(ada),
      });
      return ((await response.json()) as { accessToken: string }).accessToken;
    };
    const firefox = await signInWith(
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0',
    );
    const curl = await signInWith('curl/8.5.0');
    const getStatus = async (token: string): Promise<number> =>
      (
        await fetch(`${using.platform.url}/api/v1/users/me`, {
          headers: { authorization: `Bearer ${token}` },
        })
      ).status;

    const page = await using.open('/account', { as: ada });
    const { keyboard } = page;
    await page.getByRole('row').filter({ hasText: 'Firefox on Windows' }).getByRole('button').focus();
    await keyboard.press('Enter');
    await waitForFocusIn(page.getByRole('menuitem', { name: 'End the session…' }));
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: 'End the session of Firefox on Windows?' }).waitFor();
    await page.getByRole('button', { name: 'End the session', exact: true }).focus();
    await keyboard.press('Enter');
    await page.getByText('The session has ended.').waitFor();
    await page.getByRole('row').filter({ hasText: 'Firefox on Windows' }).waitFor({ state: 'detached' });
    expect([await getStatus(firefox), await getStatus(curl)]).toEqual([401, 200]);

    await page.getByRole('button', { name: 'End all others…' }).focus();
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: 'End all your other sessions?' }).waitFor();
    await page.getByRole('button', { name: 'End all others', exact: true }).focus();
    await keyboard.press('Enter');
    await page.getByText('One session has ended.').waitFor();
    expect(await getStatus(curl)).toBe(401);
    await page.getByRole('button', { name: 'End all others…' }).waitFor({ state: 'detached' });
    await page.getByRole('row').filter({ hasText: 'This session' }).waitFor();
  });

  test('shows what a connected app may do in words, and ends it at once', async () => {
    const { url } = using.platform;
    const scopes = ['user:read', 'crawl:read'];
    const register = async (name: string) =>
      (
        await using.platform.call<{ application: { clientId: string } }>(
          'POST',
          '/api/v1/oauth-applications',
          appFields(name, scopes),
        )
      ).application.clientId;
    const page = await using.open('/account/apps');
    await page.getByText('No application acts for you').waitFor();
    await connectApp(page, { url, clientId: await register('Desk agent'), scopes });
    const lost = await connectApp(page, { url, clientId: await register('Lost agent'), scopes });
    const callTools = async () =>
      (
        await fetch(`${url}/mcp`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${lost.accessToken}`,
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
          },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
        })
      ).status;
    expect(await callTools()).toBe(200);

    await page.goto(`${url}/account/apps`);
    const row = page.getByRole('row').filter({ hasText: 'Lost agent' });
    await row.getByText('See your profile and the members').waitFor();
    await row.getByText('See crawl schedules, runs and queue statistics').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole('button', { name: 'Actions for Lost agent' }).click();
    await page.getByRole('menuitem', { name: 'End the connection…' }).click();
    await page.getByRole('heading', { name: 'End the connection of Lost agent?' }).waitFor();
    await page.getByLabel('Reason').fill('sold the machine');
    await page.getByRole('button', { name: 'End the connection', exact: true }).click();
    await page.getByText('The connection of Lost agent has ended.').waitFor();
    await row.waitFor({ state: 'detached' });
    expect(await callTools()).toBe(401);

    // An administrator sees and ends those of everybody.
    await page.getByRole('link', { name: 'Everyone’s' }).click();
    await page.waitForURL(/\/organisation\/apps/);
    await page
      .getByRole('row')
      .filter({ hasText: 'Desk agent' })
      .getByText(using.platform.admin.email)
      .waitFor();
    await page.getByRole('button', { name: 'Actions for Desk agent' }).click();
    await page.getByRole('menuitem', { name: 'End the connection…' }).click();
    await page
      .getByRole('heading', { name: 'End the connection of Desk agent with Administrator?' })
      .waitFor();
    await page.getByRole('button', { name: 'End the connection', exact: true }).click();
    await page.getByText('No application acts for anybody').waitFor();
  });

  test('an administrator ends all sessions of a member', async () => {
    const grace = await using.platform.createMember('Grace Hopper');
    await using.platform.call('GET', '/api/v1/users/me', undefined, grace);
    const page = await using.open('/organisation/members');
    await page.getByRole('button', { name: 'Actions for Grace Hopper' }).click();
    await page.getByRole('menuitem', { name: 'End sessions…' }).click();
    await page.getByRole('heading', { name: 'End all sessions of Grace Hopper?' }).waitFor();
    await page.getByRole('dialog').getByRole('row').filter({ hasText: '127.0.0.1' }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole('button', { name: 'End all sessions' }).click();
    await page.getByText('One session has ended.').waitFor();
    await expect(using.platform.call('GET', '/api/v1/users/me', undefined, grace)).rejects.toThrow('401');
  });
});
