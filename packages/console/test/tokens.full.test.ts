import { describeWith } from '@platform/testing';
import { copy, findBarriers, useConsole } from './console.js';
import { waitForFocus, waitForFocusIn } from './focus.js';
import type { Person } from './platform.js';

interface CursorConfig {
  readonly mcpServers: {
    readonly platform: { readonly url: string; readonly headers: Readonly<Record<string, string>> };
  };
}

describeWith('chromium', 'the screen of a member’s tokens', () => {
  const using = useConsole();

  test('creates a token that is shown once, works, and is refused after its revocation', async () => {
    const page = await using.open('/account/tokens');
    await page.getByText('You have no tokens').waitFor();
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Laptop, Claude Code');
    await page.getByText('An agent that reads').click();
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByText('shown this once').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    const token = await copy(page, 'Token');
    const ask = async (): Promise<number> =>
      (
        await fetch(`${using.platform.url}/api/v1/users/me`, {
          headers: { authorization: `Bearer ${token}` },
        })
      ).status;
    expect(await ask()).toBe(200);

    await page.getByRole('tab', { name: 'Cursor' }).click();
    await page.getByText(`${using.platform.url}/mcp`).waitFor();
    const { mcpServers } = JSON.parse(await copy(page, 'Cursor')) as CursorConfig;
    const response = await fetch(mcpServers.platform.url, {
      method: 'POST',
      headers: { ...mcpServers.platform.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
    expect(response.status).toBe(200);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const everything = await page.evaluate<string>(
      `document.documentElement.outerHTML + location.href + JSON.stringify([localStorage, sessionStorage])`,
    );
    expect(everything).not.toContain(token);

    await page.getByRole('button', { name: 'Actions for Laptop, Claude Code' }).click();
    await page.getByRole('menuitem', { name: 'Revoke…' }).click();
    await page.getByRole('heading', { name: 'Revoke “Laptop, Claude Code”?' }).waitFor();
    await page.getByLabel('Reason').fill('laptop sold');
    await page.getByRole('button', { name: 'Revoke token' }).click();
    await page.getByText('“Laptop, Claude Code” is revoked.').waitFor();
    await page.getByText('You have no tokens').waitFor();
    expect(await ask()).toBe(401);
  });

  test('keeps the filter in the address', async () => {
    for (const name of ['first', 'second'])
      await using.platform.call('POST', '/api/v1/personal-access-tokens', { name, scopes: ['user:read'] });
    const page = await using.open('/account/tokens?q=sec');
    await page.getByRole('row', { name: /second/ }).waitFor();
    expect(await page.getByRole('row', { name: /first/ }).count()).toBe(0);
    await page.getByRole('searchbox').fill('fir');
    await page.waitForURL(/q=fir/);
    await page.getByRole('row', { name: /first/ }).waitFor();
    await page.getByRole('searchbox').fill('nothing like it');
    await page.getByText('No token matches').waitFor();
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await page.getByRole('row', { name: /second/ }).waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('');
  });

  test('rotates a token with a grace, and takes permissions and addresses from it', async () => {
    const fields = { name: 'Robot', scopes: ['user:read', 'pat:read', 'pat:write'] };
    const { token } = await using.platform.call<{ token: { id: string; accessToken: string } }>(
      'POST',
      '/api/v1/personal-access-tokens',
      fields,
    );
    const created = await fetch(`${using.platform.url}/api/v1/personal-access-tokens`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token.accessToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Its helper', scopes: ['pat:read'] }),
    });
    expect(created.status).toBe(201);
    const page = await using.open(`/account/tokens/${token.id}`);
    await page.getByText('It has called no tools').waitFor();
    await page.getByRole('button', { name: 'Edit…' }).click();
    await page.getByRole('checkbox', { name: 'Mail before and when it expires' }).press(' ');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The token is changed.').waitFor();
    await page.getByText('Muted').waitFor();

    await page.getByRole('button', { name: 'Rotate…' }).click();
    await page.getByRole('dialog').getByText('List your personal access tokens').waitFor();
    await page.getByRole('dialog').getByText('pat:read').click();
    await page.getByLabel('Allowed addresses').fill('203.0.113.0/24');
    await page.getByRole('button', { name: 'Create the new token' }).click();
    await page.getByText('shown this once').waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByText('Replaced by').waitFor();
    await page.getByRole('link', { name: 'Open the token' }).click();
    await page.getByRole('button', { name: 'Rotate…' }).waitFor();
    await page.getByText('203.0.113.0/24').waitFor();
    await page.getByText('pat:read', { exact: true }).waitFor({ state: 'detached' });
  });

  test('creates a token by keyboard alone', async () => {
    const page = await using.open('/account/tokens');
    const { keyboard } = page;
    await page.getByRole('button', { name: 'New token' }).focus();
    await keyboard.press('Enter');
    await waitForFocusIn(page.getByRole('textbox', { name: 'Name' }));
    await keyboard.type('by keyboard');
    await keyboard.press('Enter');
    await page.getByText('shown this once').waitFor();
    await page.getByRole('button', { name: 'Done' }).focus();
    await keyboard.press('Enter');
    await page.getByRole('row', { name: /by keyboard/ }).waitFor();
    await waitForFocus(page, 'New token');
  });

  test('creates a token that works from the allowed addresses only', async () => {
    using.allowFaults(/400/);
    const page = await using.open('/account/tokens');
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('From the office');
    await page.getByText('Advanced').click();
    await page.getByLabel('Allowed addresses').fill('203.0.113.0/33');
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByText('“203.0.113.0/33” must be a CIDR range').waitFor();
    await page.getByLabel('Allowed addresses').fill('203.0.113.0/24');
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByText('shown this once').waitFor();
    const token = await copy(page, 'Token');
    const { status } = await fetch(`${using.platform.url}/api/v1/users/me`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(status).toBe(401);
  });

  test('says what is missing, and sends nothing', async () => {
    const page = await using.open('/account/tokens');
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByText('Something else').click();
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByText('Choose at least one permission.').waitFor();
    await waitForFocusIn(page.getByRole('textbox', { name: 'Name' }));
    expect(await page.getByRole('dialog').isVisible()).toBe(true);
  });

  test('shows which tokens a policy would break, by owner, and saves it only then', async () => {
    const { platform } = using;
    const ada = await platform.createMember('Ada Lovelace');
    const create = async (name: string, expiryDays: number | 'never', as?: Person) =>
      (
        await platform.call<{ token: { accessToken: string } }>(
          'POST',
          '/api/v1/personal-access-tokens',
          { name, scopes: ['user:read', 'pat:write'], expiryDays },
          as,
        )
      ).token.accessToken;
    const kept = await create('within the policy', 30);
    const broken = await create('for ever', 'never', ada);
    const getStatus = async (token: string): Promise<number> =>
      (await fetch(`${platform.url}/api/v1/users/me`, { headers: { authorization: `Bearer ${token}` } }))
        .status;

    const page = await using.open('/organisation/token-policy');
    await page.getByRole('button', { name: 'Change the policy…' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('checkbox', { name: /Limit the lifetime/ }).focus();
    await page.keyboard.press('Space');
    await page.getByLabel('At most … days').fill('45');
    await page.getByLabel('Allowed addresses').fill('not an address');
    expect(await findBarriers(page)).toEqual([]);
    using.allowFaults(/400/);
    await page.getByRole('button', { name: 'Check what it affects' }).click();
    await page.getByText('“not” must be a CIDR range').waitFor();
    await page.getByLabel('Allowed addresses').fill('');
    await page.getByRole('button', { name: 'Check what it affects' }).click();
    const affected = page.getByRole('region', { name: /not within this policy/ });
    await affected.getByText(ada.email).waitFor();
    await affected.getByRole('listitem').filter({ hasText: 'for ever' }).getByText('last for ever').waitFor();
    expect(await affected.getByText('within the policy', { exact: true }).count()).toBe(0);
    expect(await findBarriers(page)).toEqual([]);
    // Nothing is saved yet, and going back loses nothing.
    const stored = await platform.call<{ policy: { maxLifetimeDays: number | null } }>(
      'GET',
      '/api/v1/organisation/token-policy',
    );
    expect(stored.policy.maxLifetimeDays).toBeNull();
    await page.getByRole('button', { name: 'Back' }).click();
    expect(await page.getByLabel('At most … days').inputValue()).toBe('45');
    await page.getByRole('button', { name: 'Check what it affects' }).click();
    await page.getByRole('button', { name: 'Save the policy' }).click();
    await page.getByText('The policy is saved, and holds for every token.').waitFor();
    await page.getByText('45 days').waitFor();
    // It works until it is 45 days old.
    expect([await getStatus(kept), await getStatus(broken)]).toEqual([200, 200]);

    await page.getByRole('button', { name: 'Change the policy…' }).click();
    await page.getByRole('checkbox', { name: /Revoke tokens that nobody uses/ }).focus();
    await page.keyboard.press('Space');
    await page.getByLabel('After … days without a use').fill('60');
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole('button', { name: 'Check what it affects' }).click();
    await page.getByRole('button', { name: 'Save the policy' }).click();
    await page.getByText('Revoked after 60 days without a use').waitFor();

    // A permission that is denied can't be granted, and stays denied when something else is changed.
    const readPolicy = () =>
      platform.call<{ policy: { deniedScopes: string[] } }>('GET', '/api/v1/organisation/token-policy');
    for (const scope of ['kb:read', undefined]) {
      await page.getByRole('button', { name: 'Change the policy…' }).click();
      if (scope !== undefined) await page.getByRole('dialog').getByText(scope).click();
      await page.getByRole('button', { name: 'Check what it affects' }).click();
      await page.getByRole('button', { name: 'Save the policy' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.reload();
      expect((await readPolicy()).policy.deniedScopes).toEqual(['kb:read']);
    }
  });
});
