import { describeWith } from '@platform/testing';
import { startWikiServer } from '../screenshots/wiki-server.mjs';
import { findBarriersInLooks, getLayoutShift, useConsole, waitForContent } from './console.js';

const CRAWLS = '/api/v1/crawlingManager';
const SERVERS = '/api/v1/mcp-servers';

describeWith('chromium', 'the knowledge of an organisation', () => {
  const using = useConsole();
  let wiki: Awaited<ReturnType<typeof startWikiServer>>;
  let runId = '';

  /** Says to whom it answers, and where that comes from. */
  const toAnswer = (authorization: string): string => {
    const [, claims = ''] = authorization.split('.');
    const { email } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { email: string };
    return `For ${email}:\u200B see https://example.com/x\n\nCrawled by ${using.platform.url}/knowledge/files_1?run=${runId}`;
  };

  beforeAll(async () => {
    wiki = await startWikiServer({ toAnswer });
    const { call } = using.platform;
    const mounted = {
      name: 'wiki',
      url: wiki.url,
      connectors: ['files_1'],
      credential: { kind: 'assertion', claims: ['email'] },
    };
    const { server } = await call<{ server: { id: string } }>('POST', SERVERS, mounted);
    await call('POST', `${SERVERS}/${server.id}/refresh`);
    type Tools = { data: { name: string; hash: string }[] };
    const { data } = await call<Tools>('GET', `${SERVERS}/${server.id}/tools`);
    const tools = data
      .filter(({ name }) => name === 'page_search')
      .map(({ name, hash }) => ({ name, scope: 'kb:read', approve: hash }));
    await call('PATCH', `${SERVERS}/${server.id}/tools`, { tools });

    const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 30, timezone: 'UTC' };
    await call('POST', `${CRAWLS}/files_1/schedule`, { scheduleConfig, worker: 'pull' });
    const run = await call<{ data: { runId: string } }>('POST', `${CRAWLS}/files_1/run`);
    runId = run.data.runId;
    const claim = { connectors: ['files_1'], worker: 'files worker', waitMs: 0 };
    const { lease } = await call<{ lease: string }>('POST', `${CRAWLS}/work/claim`, claim);
    const source = {
      description: 'The folder /srv/handbook',
      documents: 1_234,
      oldestAt: '2019-03-04T10:00:00.000Z',
      newestAt: new Date().toISOString(),
    };
    await call('POST', `${CRAWLS}/work/${runId}/finish`, { lease, state: 'completed', source });
  });
  afterAll(async () => {
    await wiki?.close();
  });

  test('UI-36, UI-37 a member searches as an agent of theirs would, and follows the answer to its source', async () => {
    const ada = await using.platform.createMember('Ada Reader');
    const page = await using.open('/', { as: ada });
    await page.getByRole('link', { name: 'Knowledge', exact: true }).first().click();
    const row = page
      .getByRole('listitem')
      .filter({ has: page.getByRole('heading', { name: 'Cloud files' }) });
    await row.getByText('The folder /srv/handbook · 1,234 documents').waitFor();
    await row.getByText('Everybody in the organisation').waitFor();
    expect(await getLayoutShift(page)).toBeLessThan(0.1);
    await page.getByLabel('Search').fill('holidays');
    await page.keyboard.press('Enter');
    const answer = page.getByRole('group', { name: 'Answer' });
    // A foreign server wrote it: what is hidden is shown, and only sources are links.
    await answer.getByText(`For ${ada.email}:\\u{200B} see https://example.com/x`).waitFor();
    expect(await answer.getByRole('link').allTextContents()).toEqual(['Source: Cloud files']);
    expect(await findBarriersInLooks(page)).toEqual([]);
    await answer.getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: 'Cloud files' }).waitFor();
    const facts = page.locator('.facts');
    await facts.getByText('The folder /srv/handbook').waitFor();
    await facts.getByText('1,234').waitFor();
    await facts.getByText('Everybody in the organisation').waitFor();
    expect(await page.getByRole('link', { name: 'The crawl that brought it' }).count()).toBe(0);
  });

  test('UI-37 an administrator comes from the source to the crawl that brought the answer', async () => {
    const page = await using.open(`/knowledge/files_1?run=${runId}`);
    await page.locator('.facts').getByText('The folder /srv/handbook').waitFor();
    await waitForContent(page);
    expect(await getLayoutShift(page)).toBeLessThan(0.1);
    expect(await findBarriersInLooks(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 800 });
    expect(
      await page.evaluate<boolean>(
        'document.documentElement.scrollWidth <= document.documentElement.clientWidth',
      ),
    ).toBe(true);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('link', { name: 'The crawl that brought it' }).click();
    await page.getByRole('heading', { level: 1, name: /^Run of/ }).waitFor();
    using.allowFaults(/404/);
    await page.goto(`${using.platform.url}/knowledge/nothing`);
    await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor();
  });

  test('UI-38 the page of a member says which sources their agents can search, and reads none of them', async () => {
    const { call, createMember } = using.platform;
    await createMember('Grace Reader');
    const page = await using.open('/organisation/members');
    await page.getByRole('row', { name: /Grace Reader/ }).click();
    const sources = page
      .locator('section')
      .filter({ has: page.getByRole('heading', { name: 'Knowledge that their agents can search' }) });
    await sources.getByText('Can search it').waitFor();
    await sources.getByText('With wiki').waitFor();
    const { data } = await call<{ data: { id: string }[] }>('GET', SERVERS);
    await call('PATCH', `${SERVERS}/${data[0]?.id}`, { allowedGroups: [] });
    await page.reload();
    await sources.getByText('Cannot', { exact: true }).waitFor();
    await sources.getByText('No tool that answers from it is for them').waitFor();
  });
});
