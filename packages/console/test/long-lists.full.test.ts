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
