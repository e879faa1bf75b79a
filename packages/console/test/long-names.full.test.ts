import { describeWith } from '@platform/testing';
import { findBarriers, useConsole, waitForContent } from './console.js';
import { SCREENS } from './screen-list.js';

/** The longest names that the platform takes: one word, wide characters, and from right to left. */
const LONG_WORD = 'W'.repeat(100);
const NAMES = [LONG_WORD, '漢'.repeat(100), 'مفتاح الإنتاج '.repeat(7).trim()];
const LONGEST_EMAIL = `${'m'.repeat(64)}@${'d'.repeat(60)}.${'e'.repeat(60)}.example.com`;

describeWith('chromium', 'names of any length', () => {
  const using = useConsole();
  let tokenId = '';

  beforeAll(async () => {
    const { call } = using.platform;
    for (const name of NAMES) {
      const fields = { name, scopes: ['crawl:read'] };
      const { token } = await call<{ token: { id: string } }>(
        'POST',
        '/api/v1/personal-access-tokens',
        fields,
      );
      tokenId = token.id;
      await call('POST', '/api/v1/service-accounts', { name, role: 'admin' });
      await call('POST', '/api/v1/oauth-applications', { ...fields, grantTypes: ['client_credentials'] });
    }
    await call('POST', '/api/v1/users', {
      email: LONGEST_EMAIL,
      fullName: 'W'.repeat(200),
      password: using.platform.admin.password,
    });
    await call('DELETE', `/api/v1/personal-access-tokens/${tokenId}`, { reason: 'W'.repeat(500) });
  });

  test.each(SCREENS)('the page %s never scrolls sideways', async (path) => {
    const page = await using.open(path);
    await waitForContent(page);
    for (const width of [1280, 640, 320]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    }
    expect(await findBarriers(page)).toEqual([]);
  });

  test('long names leave the words beside them whole', async () => {
    const page = await using.open('/organisation/members');
    const cell = page.getByRole('row', { name: LONGEST_EMAIL }).getByText('Member', { exact: true });
    const lines = await cell.evaluate((element) => {
      const range = document.createRange();
      range.selectNodeContents(element);
      return range.getClientRects().length;
    });
    expect(lines).toBe(1);
  });

  test('a long name is cut at the end of its line in a list, and its page has all of it', async () => {
    const page = await using.open('/organisation/service-accounts', { width: 390 });
    const link = page.getByRole('link', { name: LONG_WORD }).first();
    const { isCut, height } = await link.evaluate((element) => ({
      isCut: element.scrollWidth > element.clientWidth,
      height: element.closest('tr')?.clientHeight ?? 0,
    }));
    expect(isCut).toBe(true);
    expect(height).toBeLessThanOrEqual(44);
    await link.click();
    const heading = page.getByRole('heading', { level: 1, name: LONG_WORD });
    await heading.waitFor();
    expect(await heading.evaluate((element) => element.scrollHeight - element.clientHeight)).toBeLessThan(2);
  });

  test('a long reason has as many lines as it needs', async () => {
    const page = await using.open(`/account/tokens/${tokenId}`);
    const reason = page.getByText('W'.repeat(500));
    expect(await reason.evaluate((element) => element.scrollWidth - element.clientWidth)).toBeLessThan(2);
  });
});
