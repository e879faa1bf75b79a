import { setTimeout as delay } from 'node:timers/promises';
import { findFreePort } from '@platform/embedded';
import { describeWith } from '@platform/testing';
import { startWikiServer } from '../screenshots/wiki-server.mjs';
import { copy, findBarriers, useConsole } from './console.js';
import { expectSoundDialog } from './dialog-checks.js';

describeWith('chromium', 'the screens of MCP servers', () => {
  const using = useConsole();
  let wiki: Awaited<ReturnType<typeof startWikiServer>>;

  beforeAll(async () => {
    wiki = await startWikiServer();
  });
  afterAll(async () => {
    await wiki?.close();
  });

  /** The names of the tools that an agent sees. */
  async function listTools(token: string): Promise<string[]> {
    const response = await fetch(`${using.platform.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
    const names = (await response.text()).matchAll(/"name":"([\w-]+__[\w-]+)"/g);
    return [...names].map(([, name = '']) => name);
  }

  test('mounts a server, approves a tool, and quarantines it once its definition has changed', async () => {
    const { token } = await using.platform.call<{ token: { accessToken: string } }>(
      'POST',
      '/api/v1/personal-access-tokens',
      { name: 'agent', scopes: ['kb:read'] },
    );
    const page = await using.open('/organisation/mcp-servers');
    await page.getByText('No server is mounted').waitFor();
    await page.getByRole('button', { name: 'Add a server' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('wiki');
    await page.getByLabel('Address').fill(wiki.url);
    await page.getByText('Advanced', { exact: true }).click();
    await page.getByLabel('Scopes by name').fill('*_search kb:write');
    await page.getByRole('button', { name: 'Add the server' }).click();
    await page.getByText('“*_search kb:write” is not a name and kb:read or semantic:write.').waitFor();
    await page.getByLabel('Scopes by name').fill('*_search kb:read');
    await page.getByRole('button', { name: /Largest answer of a call$/ }).click();
    await page.getByRole('option', { name: '2 MiB' }).click();
    expect(await findBarriers(page, '[role=dialog]')).toEqual([]);
    await page.getByRole('button', { name: 'Add the server' }).click();
    await page.getByText('wiki is added.').waitFor();
    const { data } = await using.platform.call<{ data: { maxAnswerBytes: number }[] }>(
      'GET',
      '/api/v1/mcp-servers',
    );
    expect(data.map(({ maxAnswerBytes }) => maxAnswerBytes)).toEqual([2 * 1_048_576]);
    await page.getByRole('row').filter({ hasText: wiki.url }).click();
    await page.getByRole('heading', { level: 1, name: 'wiki' }).waitFor();
    expect(page.url()).toContain(`/mcp-servers/${await copy(page, 'Server id')}`);

    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByText(/It offers 2 tools/).waitFor();
    await page.getByRole('button', { name: 'Read its tools now' }).click();
    const row = page.getByRole('row').filter({ hasText: 'wiki__page_search' });
    await row.getByText('New').waitFor();
    expect(await listTools(token.accessToken)).toEqual([]);

    await row.getByRole('button').click();
    await page.getByRole('menuitem', { name: 'Review…' }).click();
    await page.getByRole('heading', { name: 'Review page_search' }).waitFor();
    await page.getByText('Searches the pages of the wiki by words.').first().waitFor();
    await page.getByText('As the rules say: kb:read').first().waitFor();
    await page.getByRole('button', { name: 'Approve this definition' }).click();
    await page.getByText('page_search is approved.').waitFor();
    await row.getByText('Approved').waitFor();
    expect(await listTools(token.accessToken)).toEqual(['wiki__page_search']);

    wiki.turnHostile();
    await page.getByRole('button', { name: 'Read its tools now' }).click();
    await row.getByText('Changed').waitFor();
    await row.getByText('Hidden characters').waitFor();
    await page.getByRole('button', { name: 'Actions for page_search' }).click();
    await page.getByRole('menuitem', { name: 'Review…' }).click();
    const difference = page.getByRole('dialog').locator('ins');
    await difference.getByText(/read the \.env file and\\u\{200B\} send it/).waitFor();
    await page.getByRole('dialog').locator('del').waitFor();
    await expectSoundDialog(page);
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(await listTools(token.accessToken)).toEqual([]);

    await page.getByRole('button', { name: 'Actions for page_search' }).click();
    await page.getByRole('menuitem', { name: 'Review…' }).click();
    await page.getByRole('button', { name: /Who sees it and can call it/ }).click();
    await page.getByRole('option', { name: 'Nobody', exact: true }).click();
    await page.getByRole('button', { name: 'Approve this definition' }).click();
    await row.getByText('Hidden: no scope').waitFor();
    expect(await listTools(token.accessToken)).toEqual([]);
  });

  test('MCP-39 says what a server learns about who calls, and lets an administrator choose it', async () => {
    const { call } = using.platform;
    const other = await startWikiServer();
    try {
      const mount = { name: 'told', url: other.url, credential: { kind: 'assertion' } };
      const { server } = await call<{ server: { id: string } }>('POST', '/api/v1/mcp-servers', mount);
      const page = await using.open(`/organisation/mcp-servers/${server.id}`);
      await page.getByText('For each call: the id and the scopes', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Edit…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('E-mail address').first().click();
      await dialog.getByText('Groups').first().click();
      await dialog.getByRole('button', { name: /Groups go by$/ }).click();
      await page.getByRole('option', { name: 'Their external ids' }).click();
      await dialog.getByLabel('Connectors that it serves').fill('files_1, code_1');
      expect(await findBarriers(page, '[role=dialog]')).toEqual([]);
      await dialog.getByRole('button', { name: 'Save' }).click();
      await page.getByText('files_1, code_1').waitFor();
      await page
        .getByText('For each call: the id and the scopes, the e-mail address, the groups by external id')
        .waitFor();
      const stored = await call<{ server: { credential: object } }>(
        'GET',
        `/api/v1/mcp-servers/${server.id}`,
      );
      expect(stored.server.credential).toMatchObject({
        claims: ['email', 'groups'],
        groupValues: 'externalId',
      });
    } finally {
      await other.close();
    }
  });

  test('approves nothing else than what is read, even when the definition changes meanwhile', async () => {
    using.allowFaults(/40\d/);
    const { call } = using.platform;
    const other = await startWikiServer();
    try {
      const body = { name: 'other', url: other.url, rules: [{ pattern: '*', scope: 'kb:read' }] };
      const { server } = await call<{ server: { id: string } }>('POST', '/api/v1/mcp-servers', body);
      await call('POST', `/api/v1/mcp-servers/${server.id}/refresh`);
      const page = await using.open(`/organisation/mcp-servers/${server.id}`);
      await page.getByRole('button', { name: 'Actions for page_search' }).click();
      await page.getByRole('menuitem', { name: 'Review…' }).click();
      const approve = page.getByRole('button', { name: 'Approve this definition' });
      await approve.waitFor();
      other.turnHostile();
      await call('POST', `/api/v1/mcp-servers/${server.id}/refresh`);
      await approve.click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('The server offers another definition by now').waitFor();
      expect(await dialog.locator('.quoted').textContent()).not.toContain('.env');
      await dialog.getByRole('button', { name: 'Show the latest' }).click();
      await dialog.locator('.quoted').getByText('.env').waitFor();
      await approve.click();
      await page.getByText('page_search is approved.').waitFor();
    } finally {
      await other.close();
    }
  });

  test('says what is wrong with a server, keeps its secret unseen, and removes it', async () => {
    using.allowFaults(/400|502/);
    const page = await using.open('/organisation/mcp-servers');
    await page.getByRole('button', { name: 'Add a server' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('away');
    await page.getByLabel('Address').fill('http://10.0.0.1/mcp');
    await page.getByRole('button', { name: /How the platform identifies itself/ }).click();
    await page.getByRole('option', { name: 'By a secret in a header' }).click();
    await page.getByLabel('Whole value of the header').fill('Bearer of-nobody-else');
    await page.getByRole('button', { name: 'Add the server' }).click();
    await page.getByText(/^Must be https and public/).waitFor();
    await page.getByLabel('Address').fill(`http://127.0.0.1:${await findFreePort()}/mcp`);
    await page.getByRole('button', { name: 'Add the server' }).click();
    await page.getByText('away is added.').waitFor();
    // The server itself arrives late, which must not take the result of the test away.
    await page.route(
      /\/mcp-servers\/[^/]+$/,
      async (route) => {
        await delay(500);
        await route.continue();
      },
      { times: 1 },
    );
    await page.getByRole('row').filter({ hasText: 'away' }).click();
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByRole('heading', { name: 'away', exact: true }).waitFor();
    await page.getByText('It can’t be used').waitFor();
    await page.getByText('It can’t be reached').first().waitFor();
    await page.getByRole('button', { name: 'Read its tools now' }).click();
    await page
      .getByRole('alert')
      .getByText(/can't be used: unreachable/)
      .waitFor();

    await page.getByRole('button', { name: 'Edit…' }).click();
    await page.getByLabel('Whole value of the header').waitFor();
    expect(await page.content()).not.toContain('of-nobody-else');
    // The stored secret is kept when nothing is typed.
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('away-2');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The server is changed.').waitFor();
    await page.getByText('By a secret in a header').waitFor();

    await page.getByRole('button', { name: 'Remove…' }).click();
    await page.getByRole('heading', { name: 'Remove away-2?' }).waitFor();
    await page.getByRole('button', { name: 'Remove server' }).click();
    await page.getByText('away-2 is removed.').waitFor();
    await page.getByRole('heading', { level: 1, name: 'MCP servers' }).waitFor();
    await page.getByRole('row').filter({ hasText: 'away-2' }).waitFor({ state: 'detached' });
  });
});
