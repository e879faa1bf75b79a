import { describeWith, type Page, waitFor } from '@platform/testing';
import { findBarriers, useConsole } from './console.js';

const TOKENS = '/api/v1/personal-access-tokens';
const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 30, timezone: 'UTC' };

/** Calls a function for each number below `count`, five at once. */
async function repeat(count: number, act: (index: number) => Promise<unknown>): Promise<void> {
  for (let start = 0; start < count; start += 5)
    await Promise.all(Array.from({ length: Math.min(5, count - start) }, (_, offset) => act(start + offset)));
}

const rowNames = (page: Page) => page.locator('tbody [role=rowheader]').allTextContents();
const waitForRows = (page: Page, names: readonly string[]) =>
  waitFor(async () => JSON.stringify(await rowNames(page)) === JSON.stringify(names), {
    what: names.join(', '),
  });

describeWith('chromium', 'lists', () => {
  const using = useConsole();

  test('one without entries says so, and leads to where the first is made', async () => {
    for (const [path, title, action] of [
      ['/account/tokens', 'You have no tokens', 'Create a token'],
      ['/crawls/queue', 'Nothing is scheduled', 'Schedule a connector'],
      ['/crawls/connectors/wiki_1', 'It has not run yet', 'Schedule a connector'],
      ['/organisation/tokens', 'Nobody has a token', 'Create a token'],
      ['/organisation/apps', 'No application acts', 'Register an application'],
    ] as const) {
      const page = await using.open(path);
      await page
        .locator('.empty')
        .filter({ hasText: title })
        .getByRole('button', { name: action })
        .or(page.getByRole('link', { name: action }))
        .click();
      await page.getByRole('dialog').waitFor();
    }
  });

  describe('of a few rows', () => {
    beforeAll(async () => {
      for (const name of ['one', 'two', 'three'])
        await using.platform.call('POST', TOKENS, { name, scopes: ['user:read'] });
    });

    test('the search and the order of a list are in its address', async () => {
      const page = await using.open('/account/tokens?q=tw');
      await waitForRows(page, ['two']);
      await page.getByRole('searchbox').fill('nothing like it');
      await page.waitForURL(/q=nothing/);
      await page.getByText('No token matches').waitFor();
      await page.getByRole('button', { name: 'Clear the filters' }).click();
      await waitForRows(page, ['three', 'two', 'one']);
      expect(await page.getByRole('searchbox').inputValue()).toBe('');
      await page.getByRole('button', { name: 'Name' }).click();
      await page.waitForURL(/sort=name/);
      await waitForRows(page, ['one', 'three', 'two']);
      await page
        .getByRole('columnheader', { name: 'Name' })
        .and(page.locator('[aria-sort=ascending]'))
        .waitFor();
    });

    test('several tokens are revoked at once; what could not be done stays open, and says why', async () => {
      const page = await using.open('/organisation/tokens');
      await waitForRows(page, ['three', 'two', 'one']);
      for (const name of ['one', 'two'])
        await page.getByRole('checkbox', { name, exact: true }).press('Space');
      await page.getByRole('group', { name: '2 selected' }).getByRole('button', { name: 'Revoke…' }).click();
      await page.getByRole('heading', { name: 'Revoke 2 tokens?' }).waitFor();
      expect(await findBarriers(page)).toEqual([]);
      await page.getByLabel('Reason').fill('spring cleaning');
      using.allowFaults(/500/);
      await page.route(`**${TOKENS}/admin/*`, (route) => route.fulfill({ status: 500 }), { times: 1 });
      await page.getByRole('button', { name: 'Revoke token' }).click();
      await page
        .getByRole('alert')
        .getByText(/(?:one|two).*: The platform failed to answer\./)
        .waitFor();
      await page.getByRole('button', { name: 'Revoke token' }).click();
      await waitForRows(page, ['three']);
      await page.getByText('1 in total').waitFor();
    });

    test('an act on several rows leaves out those to which it does not apply', async () => {
      const { call, createMember } = using.platform;
      for (const name of ['ida', 'mary'])
        await call('POST', '/api/v1/users', { email: `${name}@lists.example.com`, fullName: name });
      await createMember('Hedy Lamarr');
      const page = await using.open('/organisation/members');
      await page.getByRole('row', { name: /Hedy Lamarr/ }).waitFor();
      await page.getByRole('checkbox', { name: 'Select all' }).press('Space');
      // Members who have joined have no invitation to cancel.
      await page.getByRole('button', { name: 'Cancel the invitation… (2)' }).click();
      await page.getByRole('heading', { name: 'Cancel 2 invitations?' }).waitFor();
      await page.getByRole('button', { name: 'Cancel the invitations' }).click();
      await page.getByText('2 invitations are cancelled.').waitFor();
      await page.getByRole('radio', { name: 'Invited' }).click();
      await page.getByText('No member matches').waitFor();
    });
  });

  describe('of many rows', () => {
    const rows = (page: Page) => page.locator('tbody tr');

    beforeAll(() =>
      repeat(260, (index) =>
        using.platform.call('POST', TOKENS, { name: `Token ${index}`, scopes: ['crawl:read'] }),
      ),
    );

    /** Counts the function calls with which the browser adds a page: unlike a time, the same on a busy machine. */
    async function countCalls(page: Page, count: number): Promise<number> {
      const session = await page.context().newCDPSession(page);
      await session.send('Profiler.enable');
      await session.send('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
      await showMore(page, count);
      const { result } = await session.send('Profiler.takePreciseCoverage');
      await session.detach();
      return result
        .flatMap(({ functions }) => functions)
        .reduce((sum, { ranges }) => sum + (ranges[0]?.count ?? 0), 0);
    }

    async function showMore(page: Page, count: number): Promise<void> {
      await page.getByRole('button', { name: 'Show more' }).click();
      await waitFor(async () => (await rows(page).count()) === count, { what: `${count} rows` });
    }

    test('UI-10 a page more renders the new rows only', async () => {
      const page = await using.open('/account/tokens');
      await rows(page).first().waitFor();
      const short = await countCalls(page, 150);
      const long = await countCalls(page, 250);
      // Rendering all rows would take two thirds more; a row that stays takes a few to be passed over.
      expect(long).toBeLessThan(short * 1.4);
    });

    test('UI-16 all rows are shown by one press, and what is selected says of how many', async () => {
      const page = await using.open('/account/tokens');
      await page.getByRole('checkbox', { name: 'Select the 50 that are shown' }).press('Space');
      const all = page.getByRole('button', { name: /^Show all \d+$/ });
      const total = Number(/\d+/.exec((await all.textContent()) ?? '')?.[0]);
      await page.getByText(`50 of ${total} selected`).waitFor();
      await all.click();
      await waitFor(async () => (await rows(page).count()) === total, { what: 'all rows' });
      await all.waitFor({ state: 'detached' });
      await page.getByRole('checkbox', { name: 'Select all' }).press('Space');
      await page.getByText(`${total} selected`, { exact: true }).waitFor();
    });

    test('a press with Control opens a row in a new tab', async () => {
      const page = await using.open('/account/tokens');
      const tab = page.context().waitForEvent('page');
      await rows(page)
        .first()
        .click({ modifiers: ['ControlOrMeta'] });
      const opened = await tab;
      await opened.waitForURL(/\/account\/tokens\/./);
      await opened.close();
      expect(new URL(page.url()).pathname).toBe('/account/tokens');
    });

    test('UI-10 schedules out of sight are not asked for their runs', async () => {
      const { call } = using.platform;
      await repeat(60, async (index) => {
        const path = `/api/v1/crawlingManager/wiki_1/instances/site-${index}`;
        await call('PUT', path, { displayName: `Site ${String(index).padStart(2, '0')}` });
        await call('POST', `${path}/schedule`, { scheduleConfig, worker: 'pull' });
      });
      const asked = new Set<string>();
      const page = await using.open('/account');
      page.on('request', (request) => {
        const [, instance] = /instances\/([\w-]+)\/runs/.exec(request.url()) ?? [];
        if (instance !== undefined) asked.add(instance);
      });
      await page.goto(`${using.platform.url}/crawls`);
      await page.getByText('60 in total').waitFor();
      await page.getByText('None', { exact: true }).first().waitFor();
      await waitFor(() => asked.has('site-0'), { what: 'the first rows' });
      expect(asked.size).toBeLessThan(40);
      await page.getByRole('row').last().scrollIntoViewIfNeeded();
      await waitFor(() => asked.has('site-59'), { what: 'the last rows' });
    });
  });
});
