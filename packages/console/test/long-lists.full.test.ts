import { describeWith, type Page, waitFor } from '@platform/testing';
import { useConsole } from './console.js';

const TOKENS = 260;
const AT_ONCE = 10;

describeWith('chromium', 'long lists', () => {
  const using = useConsole();

  beforeAll(async () => {
    const create = (index: number) =>
      using.platform.call('POST', '/api/v1/personal-access-tokens', {
        name: `Token ${index}`,
        scopes: ['crawl:read'],
      });
    for (let index = 0; index < TOKENS; index += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, (_, offset) => create(index + offset)));
  });

  const rows = (page: Page) => page.locator('tbody tr');

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
    const short = await countCalls(page, 100);
    await showMore(page, 150);
    await showMore(page, 200);
    const long = await countCalls(page, 250);
    // Rendering all rows would take five times as many; a row that stays takes a few to be passed over.
    expect(long).toBeLessThan(short * 2.5);
  });

  test('UI-10 schedules out of sight are not asked for their runs', async () => {
    const { call } = using.platform;
    const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 30, timezone: 'UTC' };
    await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const path = `/api/v1/crawlingManager/wiki_1/instances/site-${index}`;
        await call('PUT', path, { displayName: `Site ${String(index).padStart(2, '0')}` });
        await call('POST', `${path}/schedule`, { scheduleConfig, worker: 'pull' });
      }),
    );
    const asked = new Set<string>();
    const page = await using.open('/crawls');
    page.on('request', (request) => {
      const [, instance] = /instances\/([\w-]+)\/runs/.exec(request.url()) ?? [];
      if (instance !== undefined) asked.add(instance);
    });
    await page.reload();
    await page.getByText('60 in total').waitFor();
    await page.getByText('None', { exact: true }).first().waitFor();
    await waitFor(() => asked.has('site-0'), { what: 'the first rows' });
    expect(asked.size).toBeLessThan(40);
    await page.getByRole('row').last().scrollIntoViewIfNeeded();
    await waitFor(() => asked.has('site-59'), { what: 'the last rows' });
  });

  test('UI-10 a service account shows how many tokens it has, the rest of them, and finds each', async () => {
    const { call } = using.platform;
    const { serviceAccount } = await call<{ serviceAccount: { id: string } }>('POST', '/api/v1/service-accounts', { name: 'Busy', role: 'member' });
    const path = `/api/v1/service-accounts/${serviceAccount.id}/tokens`;
    await Promise.all(
      Array.from({ length: 60 }, (_, index) => call('POST', path, { name: `Place ${index}`, scopes: ['user:read'] })),
    );
    const page = await using.open(`/organisation/service-accounts/${serviceAccount.id}`);
    await page.getByText('60 in total').waitFor();
    await showMore(page, 60);
    await page.getByRole('searchbox').fill('Place 17');
    await waitFor(async () => (await rows(page).count()) === 1, { what: 'the token' });
    await page.getByRole('radio', { name: 'Revoked' }).click();
    await page.getByText('No token matches').waitFor();
  }); // prettier-ignore

  test('a press with Control opens a row in a new tab', async () => {
    const page = await using.open('/account/tokens');
    const tab = page.context().waitForEvent('page');
    await rows(page)
      .first()
      .click({ modifiers: ['ControlOrMeta'] });
    await (await tab).waitForURL(/\/account\/tokens\/./);
    expect(new URL(page.url()).pathname).toBe('/account/tokens');
  });
});
