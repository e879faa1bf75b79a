import { describeWith } from '@platform/testing';
import { startWikiServer } from '../screenshots/wiki-server.mjs';
import { findBarriers, useConsole } from './console.js';
import { expectSoundDialog } from './dialog-checks.js';

describeWith('chromium', 'the screens of services that people use as themselves', () => {
  const using = useConsole();
  const keys = ['Bearer key-for-lists', 'Bearer key-of-ada'];
  let wiki: Awaited<ReturnType<typeof startWikiServer>>;

  beforeAll(async () => {
    wiki = await startWikiServer({ keys });
  });
  afterAll(async () => {
    await wiki?.close();
  });

  /** Has an agent of the administrator call a tool. @returns the text of the result. */
  async function callTool(token: string): Promise<string> {
    const response = await fetch(`${using.platform.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'notes__page_search' },
      }),
    });
    return ((await response.json()) as { result: { content: [{ text: string }] } }).result.content[0].text;
  }

  test('UI-20 a person connects where a failed call leads, tests, sees that a key is refused, replaces it and disconnects', async () => {
    const { call } = using.platform;
    const { token } = await call<{ token: { accessToken: string } }>(
      'POST',
      '/api/v1/personal-access-tokens',
      {
        name: 'agent',
        scopes: ['kb:read'],
      },
    );
    const page = await using.open('/organisation/mcp-servers');
    await page.getByRole('button', { name: 'Add a server' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('notes');
    await page.getByLabel('Address').fill(wiki.url);
    await page.getByRole('button', { name: /How the platform identifies itself/ }).click();
    await page.getByRole('option', { name: 'By a key that each member has of their own' }).click();
    await page.getByLabel('Where members get their key').fill('Settings, API keys, New key');
    await page.getByLabel('Page where they get it').fill('https://notes.example.com/keys');
    await page.getByLabel('Key to read its tools with').fill('key-for-lists');
    expect(await findBarriers(page, '[role=dialog]')).toEqual([]);
    await page.getByRole('button', { name: 'Add the server' }).click();
    await page.getByText('notes is added.').waitFor();
    await page.getByRole('row').filter({ hasText: wiki.url }).click();
    await page.getByText('Nobody is connected').waitFor();
    await page.getByText('With a key for that').waitFor();
    // What is not typed again stays.
    await page.getByRole('button', { name: 'Edit…' }).click();
    await page.getByLabel('Where members get their key').fill('Settings, Keys');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('The server is changed.').waitFor();
    await page.getByRole('button', { name: 'Read its tools now' }).click();
    await page.getByRole('row').filter({ hasText: 'notes__page_search' }).waitFor();
    const { data } = await call<{ data: { id: string }[] }>('GET', '/api/v1/mcp-servers');
    const id = data[0]?.id ?? '';
    const { data: tools } = await call<{ data: { name: string; hash: string }[] }>(
      'GET',
      `/api/v1/mcp-servers/${id}/tools`,
    );
    await call('PATCH', `/api/v1/mcp-servers/${id}/tools`, {
      tools: tools.map(({ name, hash }) => ({ name, scope: 'kb:read', approve: hash })),
    });

    const [address = ''] =
      /http\S+\/account\/services\/[\da-f-]+/.exec(await callTool(token.accessToken)) ?? [];
    await using.open(new URL(address).pathname);
    await page.getByRole('heading', { level: 1, name: 'notes' }).waitFor();
    await page.getByText('Not connected').waitFor();
    await page.getByText('Settings, Keys').waitFor();
    expect(await page.getByRole('link', { name: 'Open the page' }).getAttribute('href')).toBe(
      'https://notes.example.com/keys',
    );
    await page.getByRole('button', { name: 'Connect…' }).click();
    await page.getByRole('dialog').getByText(new URL(wiki.url).origin).waitFor();
    await page.getByLabel('Your key').fill(' key-of-ada ');
    await expectSoundDialog(page);
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByText('notes is connected.').waitFor();
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByText('It knows you, and offers 2 tools.').waitFor();
    expect(await callTool(token.accessToken)).toBe('as Bearer key-of-ada');
    expect(await findBarriers(page, 'main')).toEqual([]);

    // The service refuses the key from now on.
    keys.pop();
    expect(await callTool(token.accessToken)).toContain('does not accept your account there any more');
    await using.open('/account/services');
    await page.getByText('Refuses your account').waitFor();
    await page.getByRole('row').filter({ hasText: 'notes' }).click();
    await page.getByText('Refused since').waitFor();
    keys.push('Bearer new-key');
    await page.getByRole('button', { name: 'Replace the key…' }).click();
    await page.getByLabel('Your key').fill('new-key');
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByText('notes is connected.').waitFor();
    expect(await callTool(token.accessToken)).toBe('as Bearer new-key');
    await page.getByRole('button', { name: 'Disconnect…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
    await page.getByText('notes is disconnected.').waitFor();
    await page.getByText('Not connected').waitFor();
    await page.getByRole('button', { name: 'Connect…' }).click();
    await page.getByLabel('Your key').fill('new-key');
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByText('notes is connected.').waitFor();
    await using.open('/account/services');
    await page.getByRole('button', { name: 'Disconnect all…' }).click();
    await expectSoundDialog(page);
    await page.getByRole('button', { name: 'Disconnect all', exact: true }).click();
    await page.getByText('One service is disconnected.').waitFor();
    await page.getByText('Not connected').waitFor();
  });

  test('UI-20 a person signs in at a service that has a sign-in, and is told when that leads nowhere', async () => {
    using.allowFaults(/502/);
    const page = await using.open('/organisation/mcp-servers');
    await page.getByRole('button', { name: 'Add a server' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('tickets');
    await page.getByLabel('Address').fill(wiki.url);
    await page.getByRole('button', { name: /How the platform identifies itself/ }).click();
    await page.getByRole('option', { name: 'By a sign-in of each member at the server' }).click();
    await page.getByLabel('Client id').fill('given');
    await page.getByText('/oauth2/upstream/callback').waitFor();
    await page.getByLabel('Client secret').fill('a-secret');
    expect(await findBarriers(page, '[role=dialog]')).toEqual([]);
    await page.getByRole('button', { name: 'Add the server' }).click();
    await page.getByText('tickets is added.').waitFor();
    await page.getByRole('row').filter({ hasText: 'tickets' }).click();
    await page.getByText('By a sign-in of each member at the server').waitFor();
    const [, id = ''] = /mcp-servers\/([\da-f-]+)/.exec(page.url()) ?? [];
    await using.open(`/account/services/${id}?signIn=expired`);
    await page.getByText('it took too long, or another browser began it').waitFor();
    await page.getByRole('button', { name: 'Sign in there' }).click();
    // This server asks for keys, and says nothing of a sign-in.
    await page.getByText('does not let the platform sign anybody in').waitFor();
    expect(await findBarriers(page, 'main')).toEqual([]);
    await using.platform.call('DELETE', `/api/v1/mcp-servers/${id}`);
  });

  test('UI-21 an administrator sees who is connected, ends a connection, asks people to connect, and learns why that cannot be', async () => {
    using.allowFaults(/503/);
    const { call } = using.platform;
    const { data } = await call<{ data: { id: string }[] }>('GET', '/api/v1/mcp-servers');
    const id = data[0]?.id ?? '';
    await call('PUT', `/api/v1/mcp-servers/${id}/my-credential`, { value: 'new-key' });
    const page = await using.open(`/organisation/mcp-servers/${id}`);
    const row = page
      .getByRole('region', { name: 'Who is connected' })
      .getByRole('row')
      .filter({ hasText: using.platform.admin.email });
    await row.getByText('Connected', { exact: true }).waitFor();
    await row.getByRole('button').click();
    await page.getByRole('menuitem', { name: 'Disconnect…' }).click();
    await expectSoundDialog(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
    await page.getByText(/is disconnected\.$/).waitFor();
    await page.getByText('Nobody is connected').waitFor();
    expect(await findBarriers(page, 'main')).toEqual([]);
    await page.getByRole('button', { name: 'Ask people to connect…' }).click();
    await expectSoundDialog(page);
    await page.getByRole('button', { name: 'Send the mails' }).click();
    await page.getByText('One person is asked.').waitFor();
    await call('DELETE', '/api/v1/configurationManager/smtpConfig');
    await page.getByRole('button', { name: 'Ask people to connect…' }).click();
    await page.getByRole('button', { name: 'Send the mails' }).click();
    await page.getByText('No mail can be sent: the mail service or the SMTP server').waitFor();
    await page.getByText('Nothing was done').waitFor();
  });
});
