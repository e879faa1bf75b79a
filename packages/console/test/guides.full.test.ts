import { describeWith } from '@platform/testing';
import { findBarriersInLooks, useConsole, waitForContent } from './console.js';
import { listGuides } from '../guides.ts';

describeWith('chromium', 'the guides', () => {
  const using = useConsole();

  test('UI-56 are found in the menu and in the search, and lead to one another', async () => {
    const ada = await using.platform.createMember('Ada Reads');
    const page = await using.open('/', { as: ada, width: 1280 });
    await page.getByRole('button', { name: 'Ada Reads' }).click();
    await page.getByRole('menuitem', { name: 'Guides' }).click();
    await page.getByRole('heading', { level: 1, name: 'Guides' }).waitFor();
    await page.getByRole('link', { name: 'Connecting Codex' }).click();
    await page.getByRole('heading', { level: 1, name: 'Connecting Codex' }).waitFor();

    await page.keyboard.press('Control+k');
    await page.getByRole('searchbox', { name: 'Search or jump to' }).fill('mounting mcp');
    await page.getByRole('menuitem', { name: 'Mounting MCP servers' }).click();
    await page.getByRole('heading', { level: 1, name: 'Mounting MCP servers' }).waitFor();

    await page.goto(`${using.platform.url}/guides/oauth#without-the-internet`);
    const part = page.getByRole('heading', { name: 'Without the internet' });
    await part.waitFor();
    await page.waitForFunction(
      "document.getElementById('without-the-internet').getBoundingClientRect().top < 300",
    );
    await page.goto(`${using.platform.url}/guides/no-such-guide`);
    await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor();
  });

  test('UI-56 every guide is shown whole, on a phone as well, and its links lead somewhere', async () => {
    const guides = await listGuides();
    expect(guides.length).toBeGreaterThan(20);
    const page = await using.open('/guides', { width: 360 });
    const broken: string[] = [];
    for (const { id, title } of guides) {
      await page.goto(`${using.platform.url}/guides/${id}`);
      await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
      if (await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth'))
        broken.push(`${id} is too wide`);
      const targets = await page
        .locator('.guide a[href^="/guides/"]')
        .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));
      for (const target of new Set(targets)) {
        const [, name = ''] = /^\/guides\/([\w-]+)/.exec(target) ?? [];
        if (!guides.some((guide) => guide.id === name)) broken.push(`${id} leads to ${target}`);
      }
    }
    expect(broken).toEqual([]);
  });

  test('UI-57 views lead to the guides about them', async () => {
    const guides = new Set((await listGuides()).map(({ id }) => id));
    const expected = [
      ['/connect', 'mcp-clients'],
      ['/knowledge', 'documents'],
      ['/tools', 'mcp-servers'],
      ['/account/tokens', 'access'],
      ['/account/apps', 'oauth'],
      ['/crawls', 'crawl-workers'],
      ['/crawls/endpoints', 'crawl-endpoints'],
      ['/crawls/sync-events', 'events'],
      ['/mails/suppressions', 'bounces'],
    ] as const;
    for (const [path, guide] of expected) {
      const page = await using.open(path);
      const link = page.getByRole('link', { name: 'Read the guide' });
      expect([path, await link.getAttribute('href')]).toEqual([path, `/guides/${guide}`]);
      expect(guides).toContain(guide);
    }
  });

  test('UI-57 a word that is not plain is explained where it stands', async () => {
    const ada = await using.platform.createMember('Ada Asks');
    const body = { name: 'Notes', scopes: ['user:read'] };
    const path = '/api/v1/personal-access-tokens';
    const { token } = await using.platform.call<{ token: { id: string } }>('POST', path, body, ada);
    const page = await using.open(`/account/tokens/${token.id}`, { as: ada, width: 360 });
    const button = page.getByRole('button', { name: 'What “Limited to” means' });
    expect(await button.getAttribute('aria-expanded')).toBe('false');
    await button.click();
    await page.getByText('It can never do more than whom it acts for.').waitFor();
    expect(await button.getAttribute('aria-expanded')).toBe('true');
    expect(await findBarriersInLooks(page)).toEqual([]);
    await button.click();
    await page.getByText('It can never do more than whom it acts for.').waitFor({ state: 'detached' });
  });

  test('UI-56 have no barriers', async () => {
    for (const path of ['/guides', '/guides/mcp-servers', '/guides/oauth', '/guides/your-first-connector']) {
      const page = await using.open(path);
      await waitForContent(page);
      expect(await findBarriersInLooks(page)).toEqual([]);
    }
  });
});
