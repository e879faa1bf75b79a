import { describeWith, waitFor } from '@platform/testing';
import { startWikiServer } from '../screenshots/wiki-server.mjs';
import { findBarriersInLooks, findBarriersInThemes, useConsole, waitForContent } from './console.js';
import { expectSoundDialog } from './dialog-checks.js';

const SERVERS = '/api/v1/mcp-servers';

describeWith('chromium', 'the tools of an organisation', () => {
  const using = useConsole();
  let wiki: Awaited<ReturnType<typeof startWikiServer>>;
  let serverId = '';

  beforeAll(async () => {
    wiki = await startWikiServer({ toAnswer: () => 'The handbook\u200B says so' });
    const { call } = using.platform;
    const { server } = await call<{ server: { id: string } }>('POST', SERVERS, {
      name: 'wiki',
      url: wiki.url,
    });
    serverId = server.id;
    await call('POST', `${SERVERS}/${serverId}/refresh`);
  });
  afterAll(async () => {
    await wiki?.close();
  });

  test('UI-40 an administrator approves several tools at once, with a permission that puts them in effect', async () => {
    const page = await using.open('/');
    await page.getByRole('link', { name: 'Tools', exact: true }).first().click();
    const search = page.getByRole('row', { name: /wiki__page_search/ });
    await search.getByText('Only reads').waitFor();
    await search.getByText('Waits for you').waitFor();
    const save = page.getByRole('row', { name: /wiki__page_save/ });
    await save.getByText('Effects unknown').waitFor();
    await page
      .getByRole('row', { name: /remove_crawl/ })
      .getByText('Can delete')
      .waitFor();
    await page
      .getByRole('row', { name: /schedule_crawl/ })
      .getByText('Administrators')
      .waitFor();
    expect(await findBarriersInLooks(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });
    for (const row of [search, save]) await row.getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Review and approve…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Searches the pages of the wiki by words.').first().waitFor();
    await dialog.getByText('No rule says it. The tool says that it only reads.').waitFor();
    expect(await findBarriersInThemes(page, '[role=dialog]')).toEqual([]);
    await expectSoundDialog(page);
    await dialog.getByRole('button', { name: 'Approve 2 tools' }).click();
    await page.getByText('2 tools are approved.').waitFor();
    await search.getByText('Everybody').waitFor();
    await search.getByText('with kb:read').waitFor();
    await save.getByText('with semantic:write').waitFor();
    const { data } = await using.platform.call<{ data: { name: string; isInEffect: boolean }[] }>(
      'GET',
      `${SERVERS}/${serverId}/tools`,
    );
    expect(data.map(({ name, isInEffect }) => [name, isInEffect])).toEqual([
      ['page_save', true],
      ['page_search', true],
    ]);
  });

  test('UI-41 a member tries a tool with a form from its schema, and sees what an agent would get', async () => {
    const ada = await using.platform.createMember('Ada Reader');
    const page = await using.open('/tools', { as: ada });
    await page
      .getByRole('row', { name: /wiki__page_search/ })
      .getByText('Only reads')
      .waitFor();
    expect(await findBarriersInLooks(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('link', { name: /wiki__page_search/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Search' }).waitFor();
    await page.getByRole('button', { name: 'Call it' }).click();
    await page.getByText(/fill out this field/i).waitFor();
    await page.getByRole('textbox', { name: 'query' }).fill('holidays');
    await page.keyboard.press('Enter');
    await page.getByRole('group', { name: 'Answer' }).getByText('The handbook\\u{200B} says so').waitFor();
    expect(await page.getByRole('heading', { name: 'Who can use this' }).count()).toBe(0);
    expect(await findBarriersInLooks(page)).toEqual([]);
    using.allowFaults(/404/);
    await page.goto(`${using.platform.url}/tools/nothing`);
    await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor();
  });

  test('UI-42 an administrator sees how often a tool and a server are called, by whom and how long that takes', async () => {
    const { call } = using.platform;
    const grace = await using.platform.createMember('Grace Caller');
    for (let count = 0; count < 3; count += 1)
      await call('POST', `${SERVERS}/tools/wiki__page_search/call`, { arguments: { query: 'a' } }, grace);
    type Usage = { calls: number };
    await waitFor(async () => (await call<Usage>('GET', `${SERVERS}/${serverId}/usage`)).calls >= 3, {
      what: 'the record of the calls',
    });
    const page = await using.open(`/organisation/mcp-servers/${serverId}`);
    const usage = page
      .locator('section')
      .filter({ has: page.getByRole('heading', { name: 'Calls in the last seven days' }) });
    await usage
      .getByRole('listitem')
      .filter({ hasText: 'Grace Caller' })
      .getByText('3', { exact: true })
      .waitFor();
    await waitForContent(page);
    expect(await findBarriersInLooks(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(`${using.platform.url}/tools`);
    await page
      .getByRole('row', { name: /wiki__page_search/ })
      .getByText(/^[34]$/)
      .waitFor();
    await page.getByRole('link', { name: /wiki__page_search/ }).click();
    await usage.getByText('Grace Caller').waitFor();
    await page.getByRole('heading', { name: 'Who can use this' }).waitFor();
    await waitForContent(page);
    expect(await findBarriersInLooks(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 800 });
    expect(
      await page.evaluate<boolean>(
        'document.documentElement.scrollWidth <= document.documentElement.clientWidth',
      ),
    ).toBe(true);
  });
});
