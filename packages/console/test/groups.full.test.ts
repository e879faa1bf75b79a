import { describeWith } from '@platform/testing';
import { startWikiServer } from '../screenshots/wiki-server.mjs';
import { findBarriersInThemes, useConsole } from './console.js';
import { expectSoundDialog } from './dialog-checks.js';

const GROUPS = '/api/v1/groups';
const SERVERS = '/api/v1/mcp-servers';

interface Tool {
  readonly name: string;
  readonly hash: string;
}

describeWith('chromium', 'the screens of groups, and of who can use what', () => {
  const using = useConsole();
  let wiki: Awaited<ReturnType<typeof startWikiServer>>;

  beforeAll(async () => {
    wiki = await startWikiServer();
  });
  afterAll(async () => {
    await wiki?.close();
  });

  /** Mounts a server, and approves its tools. @returns its id. */
  async function mount(name: string): Promise<string> {
    const { call } = using.platform;
    const { server } = await call<{ server: { id: string } }>('POST', SERVERS, { name, url: wiki.url });
    await call('POST', `${SERVERS}/${server.id}/refresh`);
    const { data } = await call<{ data: Tool[] }>('GET', `${SERVERS}/${server.id}/tools`);
    const tools = data.map((tool) => ({ name: tool.name, scope: 'kb:read', approve: tool.hash }));
    await call('PATCH', `${SERVERS}/${server.id}/tools`, { tools });
    return server.id;
  }

  test('GRP-1 GRP-2 creates a group, finds its members by a search, and takes one out', async () => {
    await using.platform.createMember('Grace Hopper');
    await using.platform.createMember('Radia Perlman');
    await using.platform.call('POST', '/api/v1/service-accounts', { name: 'Grace export', role: 'member' });
    const page = await using.open('/organisation/groups');
    await page.getByText('There are no groups').waitFor();
    await page.getByRole('button', { name: 'Create a group' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Release managers');
    await dialog.getByRole('button', { name: 'Create group' }).click();
    await page.getByRole('heading', { level: 1, name: 'Release managers' }).waitFor();
    await page.getByText('Nobody is in it', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Add members' }).click();
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.getByText('Choose at least one.').waitFor();
    await dialog.getByRole('searchbox').fill('radia');
    await dialog.getByText('Radia Perlman').click();
    // What is chosen stays, whatever is searched for; Enter sends nothing.
    await dialog.getByRole('searchbox').fill('grace');
    await dialog.getByText('Grace export').click();
    await dialog.getByRole('searchbox').press('Enter');
    expect(await dialog.getByRole('checkbox', { name: /Radia Perlman/ }).isChecked()).toBe(true);
    expect(await findBarriersInThemes(page, '[role=dialog]')).toEqual([]);
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('2 are added.').waitFor();
    await page
      .getByRole('row', { name: /Radia Perlman/ })
      .getByText('Person')
      .waitFor();
    await page
      .getByRole('row', { name: /Grace export/ })
      .getByText('Service account')
      .waitFor();
    await page.getByRole('button', { name: 'Actions for Grace export' }).click();
    await page.getByRole('menuitem', { name: 'Remove from the group' }).click();
    await page.getByText('Grace export is not in the group any more.').waitFor();
    await page.getByRole('row', { name: /Grace export/ }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Edit…' }).click();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Releases');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { level: 1, name: 'Releases' }).waitFor();
  });

  test('UI-24 says for each person whether they can use a server and a tool, and why', async () => {
    const { call, createMember } = using.platform;
    await createMember('Barbara Liskov');
    const { group } = await call<{ group: { id: string } }>('POST', GROUPS, { name: 'Librarians' });
    const id = await mount('library');
    const page = await using.open(`/organisation/mcp-servers/${id}`);
    const people = page.getByRole('region', { name: 'Who can use this' });
    const barbara = people.getByRole('row', { name: /Barbara Liskov/ });
    await barbara.getByText('Yes').waitFor();
    await barbara.getByText('Its tools that read').waitFor();

    await page.getByRole('button', { name: 'Edit…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Only who is in one of them').click();
    await dialog.getByText('No group is chosen: nobody can use it.').waitFor();
    await dialog.getByRole('searchbox', { name: 'Search groups' }).fill('librar');
    await dialog.getByText('Librarians').click();
    expect(await findBarriersInThemes(page, '[role=dialog]')).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page
      .getByRole('definition')
      .filter({ hasText: /^Librarians$/ })
      .waitFor();
    await barbara.getByText('No', { exact: true }).waitFor();
    await barbara.getByText('It is for groups that they are not in.').waitFor();

    const { data } = await call<{ data: { id: string }[] }>('GET', '/api/v1/users?q=Barbara');
    await call('PUT', `${GROUPS}/${group.id}/members/${data[0]?.id}`);
    await page.getByRole('button', { name: 'Actions for page_search' }).click();
    await page.getByRole('menuitem', { name: 'Who can use it…' }).click();
    await dialog.getByRole('searchbox').fill('barbara');
    await dialog
      .getByRole('row', { name: /Barbara Liskov/ })
      .getByText('Yes')
      .waitFor();
    await dialog.getByText('Service accounts').click();
    await dialog.getByText('Nobody matches').waitFor();
    await expectSoundDialog(page);
  });

  test('UI-24 limits a tool when it is approved, and closes it with its only group after saying so', async () => {
    const { call } = using.platform;
    const { group } = await call<{ group: { id: string } }>('POST', GROUPS, { name: 'Night shift' });
    const id = await mount('night');
    const page = await using.open(`/organisation/mcp-servers/${id}`);
    await page.getByRole('button', { name: 'Actions for page_search' }).click();
    await page.getByRole('menuitem', { name: 'Review…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Only who is in one of them').click();
    await dialog.getByText('Night shift').click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page
      .getByRole('row', { name: /night__page_search/ })
      .getByText('Night shift')
      .waitFor();

    await page.goto(`${using.platform.url}/organisation/groups/${group.id}`);
    await page.getByRole('link', { name: 'Open: night__page_search' }).waitFor();
    await page.getByText('To this group alone').waitFor();
    await page.getByRole('button', { name: 'Remove…' }).click();
    await dialog.getByText('night__page_search').waitFor();
    await expectSoundDialog(page);
    await dialog.getByRole('button', { name: 'Remove group' }).click();
    await page.getByText('“Night shift” is removed.').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Groups' }).waitFor();
    await page.goto(`${using.platform.url}/organisation/mcp-servers/${id}`);
    await page.getByText('Nobody: it is limited to no group').waitFor();
  });
});
