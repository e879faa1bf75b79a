import { describeWith, waitFor } from '@platform/testing';
import { copy, findBarriers, useConsole } from './console.js';
import { expectSoundDialog } from './dialog-checks.js';
import { waitForFocusIn } from './focus.js';

const TOKENS = '/api/v1/personal-access-tokens';
const POLICY = '/api/v1/organisation/token-policy';

interface Created {
  readonly token: { readonly id: string; readonly accessToken: string };
}
interface CursorConfig {
  readonly mcpServers: {
    readonly platform: { readonly url: string; readonly headers: Readonly<Record<string, string>> };
  };
}

describeWith('chromium', 'the screens of tokens', () => {
  const using = useConsole();

  const post = (path: string, token: string, body: object): Promise<Response> =>
    fetch(using.platform.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  test('says which permissions of a token have no effect in the hands of its owner', async () => {
    const { call, createMember } = using.platform;
    const member = await createMember('Not An Admin');
    const body = { name: 'Granted', scopes: ['user:read', 'crawl:read'] };
    const { token } = await call<Created>('POST', TOKENS, body, member);
    const page = await using.open(`/account/tokens/${token.id}`, { as: member });
    const idle = page.getByText(/^Without effect/);
    await idle.waitFor();
    expect(await idle.count()).toBe(1);
    expect(await page.getByTitle('crawl:read').textContent()).toContain('Without effect');
  });

  test('creates a token that is shown once and works, and revokes it', async () => {
    const page = await using.open('/account/tokens');
    await page.getByText('You have no tokens').waitFor();
    await page.getByRole('button', { name: 'New token' }).click();
    // What is missing is said, and nothing is sent.
    await page.getByText('Something else').click();
    await page.getByRole('button', { name: 'Create token' }).click();
    const missing = page.getByText('Choose at least one permission.').filter({ visible: true });
    await missing.waitFor();
    await waitForFocusIn(page.getByRole('textbox', { name: 'Name' }));
    await page.getByRole('textbox', { name: 'Name' }).fill('Laptop, Claude Code');
    await page.getByText('An agent that reads').click();
    await missing.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByText('shown this once').waitFor();
    const token = await copy(page, 'Token');
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
    // UI-3
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
  });

  test('limits a new token to what is ticked, and shows it', async () => {
    const page = await using.open('/account/tokens');
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Limited');
    await page.getByText('Limit it further').click();
    await page.getByRole('group', { name: 'Tools' }).getByText('whoami').click();
    await page.getByRole('group', { name: 'Connectors' }).getByText('No connector').click();
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByText('shown this once').waitFor();
    const response = await post('/mcp', await copy(page, 'Token'), {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/list',
    });
    const { result } = (await response.json()) as { result: { tools: { name: string }[] } };
    expect(result.tools.map(({ name }) => name)).toEqual(['whoami']);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('link', { name: 'Limited' }).click();
    await page.getByText('Tools: whoami · Connectors: none').waitFor();
  });

  test('shows what a token has called and created, and rotates it with fewer permissions and from fewer addresses', async () => {
    const fields = { name: 'Robot', scopes: ['user:read', 'pat:read', 'pat:write'] };
    const { token } = await using.platform.call<Created>('POST', TOKENS, fields);
    const created = await post(TOKENS, token.accessToken, { name: 'Its helper', scopes: ['pat:read'] });
    const helper = (await created.json()) as Created;
    const page = await using.open(`/account/tokens/${helper.token.id}`);
    await page.getByText('It has called nothing yet').waitFor();
    await page.getByRole('link', { name: 'Robot' }).click();
    await page.getByRole('heading', { name: 'Robot' }).waitFor();
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami', arguments: {} } };
    expect((await post('/mcp', token.accessToken, call)).status).toBe(200);
    // Calls are stored a moment later, and the page asks again only now and then.
    await waitFor(
      async () => {
        await page.reload();
        await page.getByRole('heading', { name: 'Robot' }).waitFor();
        return page.getByRole('row', { name: /whoami/ }).isVisible();
      },
      { what: 'the call' },
    );

    await page.getByRole('button', { name: 'Edit…' }).click();
    await page.getByRole('checkbox', { name: 'Mail before and when it expires' }).press(' ');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The token is changed.').waitFor();
    await page.getByText('Muted').waitFor();
    await page.getByRole('button', { name: 'Rotate…' }).click();
    await page.getByRole('dialog').getByText('List your personal access tokens').waitFor();
    await page.getByRole('dialog').getByText('pat:read').click();
    await page.getByRole('textbox', { name: 'Allowed addresses' }).fill('203.0.113.0/24');
    await page.getByRole('button', { name: 'Create the new token' }).click();
    await page.getByText('shown this once').waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByText('Replaced by').waitFor();
    await page.getByRole('link', { name: 'Robot' }).click();
    await page.getByRole('button', { name: 'Rotate…' }).waitFor();
    await page.getByText('203.0.113.0/24').waitFor();
    await page.getByText('pat:read', { exact: true }).waitFor({ state: 'detached' });
  });

  test('a token that somebody else has revoked meanwhile is not revoked again, and cannot be changed any more', async () => {
    const { call } = using.platform;
    const { token } = await call<Created>('POST', TOKENS, { name: 'Raced', scopes: ['user:read'] });
    const page = await using.open('/account/tokens');
    await page.getByRole('button', { name: 'Actions for Raced' }).click();
    await page.getByRole('menuitem', { name: 'Revoke…' }).click();
    await call('DELETE', `${TOKENS}/${token.id}`);
    using.allowFaults(/404/);
    await page.getByRole('button', { name: 'Revoke token' }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    const row = page.getByRole('row', { name: /Raced/ });
    await row.waitFor({ state: 'detached' });
    await page.getByRole('radio', { name: 'Revoked' }).click();
    await row.click();
    await page.getByRole('heading', { level: 1, name: 'Raced' }).waitFor();
    await page.getByText('Revoked').first().waitFor();
    for (const name of ['Rotate…', 'Edit…', 'Revoke…'])
      expect(await page.getByRole('button', { name }).count()).toBe(0);
  });

  test('shows which tokens a policy would break, by owner, and saves it only then', async () => {
    const { call, createMember } = using.platform;
    const ada = await createMember('Ada Lovelace');
    const create = (name: string, expiryDays: number | 'never', as = using.platform.admin) =>
      call('POST', TOKENS, { name, scopes: ['user:read'], expiryDays }, as);
    await create('within the policy', 30);
    await create('for ever', 'never', ada);
    type Policy = { policy: { maxLifetimeDays: number | null; deniedScopes: string[] } };
    const readPolicy = async () => (await call<Policy>('GET', POLICY)).policy;

    const page = await using.open('/organisation/token-policy');
    await page.getByRole('button', { name: 'Change the policy…' }).click();
    const toggle = async (name: RegExp): Promise<void> => {
      await page.getByRole('checkbox', { name }).focus();
      await page.keyboard.press('Space');
    };
    await toggle(/Limit the lifetime/);
    await page.getByLabel('At most … days').fill('45');
    await page.getByRole('button', { name: 'Check what it affects' }).click();
    const affected = page.getByRole('region', { name: /not within this policy/ });
    await affected.getByText(ada.email).waitFor();
    await affected.getByRole('listitem').filter({ hasText: 'for ever' }).getByText('last for ever').waitFor();
    expect(await affected.getByText('within the policy', { exact: true }).count()).toBe(0);
    await expectSoundDialog(page);
    // Nothing is saved yet, and going back loses nothing.
    expect((await readPolicy()).maxLifetimeDays).toBeNull();
    await page.getByRole('button', { name: 'Back' }).click();
    expect(await page.getByLabel('At most … days').inputValue()).toBe('45');
    await toggle(/Revoke tokens that nobody uses/);
    await page.getByLabel('After … days without a use').fill('60');
    expect(await findBarriers(page, '[role=dialog]')).toEqual([]);
    await page.getByRole('dialog').getByText('kb:read').click();
    await page.getByRole('button', { name: 'Check what it affects' }).click();
    await page.getByRole('button', { name: 'Save the policy' }).click();
    await page.getByText('The policy is saved, and holds for every token.').waitFor();
    await page.getByText('45 days').waitFor();
    await page.getByText('Revoked after 60 days without a use').waitFor();

    // A permission that is denied can't be granted, and stays denied when something else is changed.
    await page.getByRole('button', { name: 'Change the policy…' }).click();
    await page.getByRole('button', { name: 'Check what it affects' }).click();
    await page.getByRole('button', { name: 'Save the policy' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await readPolicy()).toMatchObject({ maxLifetimeDays: 45, deniedScopes: ['kb:read'] });
  });
});
