import { describeWith, type Page } from '@platform/testing';
import { appFields, connectApp } from '../screenshots/connect-app.mjs';
import { useConsole, waitForContent } from './console.js';
import { SCREENS } from './screen-list.js';

/** The longest names that the platform takes: one word, wide characters, and from right to left. */
const LONG_WORD = 'W'.repeat(100);
const NAMES = [LONG_WORD, '漢'.repeat(100), 'مفتاح الإنتاج '.repeat(7).trim()];
const LONGEST_EMAIL = `${'m'.repeat(64)}@${'d'.repeat(60)}.${'e'.repeat(60)}.example.com`;
const APPLICATIONS = '/api/v1/oauth-applications';
const ACCOUNTS = '/api/v1/service-accounts';
const TOKENS = '/api/v1/personal-access-tokens';

/**
 * Finds what a list hides: a text that is cut without an ellipsis, a row that goes on beyond the frame of its table, and
 * a menu that is not in the window.
 */
const FIND_CUT_ROWS = `(async () => {
  const found = [];
  // What the page renders for another width is there two frames later.
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  const describe = (node) => node.textContent.slice(0, 30) + ' (' + node.parentElement.closest('td, th')?.cellIndex + ')';
  /** Whether the box ends its text in an ellipsis: only a block of text does, not a grid or the like inside it. */
  const hasEllipsis = (box, node) => {
    for (let at = node.parentElement; at !== box; at = at.parentElement)
      if (getComputedStyle(at).display !== 'inline') return false;
    return getComputedStyle(box).textOverflow === 'ellipsis' && /block|table-cell/.test(getComputedStyle(box).display);
  };
  for (const frame of document.querySelectorAll('.table-frame')) {
    const { left, right } = frame.getBoundingClientRect();
    if (frame.scrollWidth > frame.clientWidth + 1) found.push('the table is ' + frame.scrollWidth + ' wide in ' + frame.clientWidth);
    for (const menu of frame.querySelectorAll('button[aria-haspopup]')) {
      const box = menu.getBoundingClientRect();
      if (box.left < left || box.right > Math.min(right, innerWidth)) found.push(menu.ariaLabel + ' is outside');
    }
    const texts = document.createTreeWalker(frame, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(node);
      const text = range.getBoundingClientRect();
      if (text.width < 2 || node.parentElement.closest('.unseen')) continue;
      for (let box = node.parentElement; box !== frame.parentElement; box = box.parentElement) {
        if (getComputedStyle(box).overflowX === 'visible') continue;
        const edge = box.getBoundingClientRect();
        if (text.right <= edge.right + 1 && text.left >= edge.left - 1) continue;
        if (!hasEllipsis(box, node)) found.push(describe(node) + ' is cut');
        break;
      }
    }
  }
  return found;
})()`;

describeWith('chromium', 'names of any length', () => {
  const using = useConsole({ isShared: true });
  const detailPaths: string[] = [];
  let tokenId = '';

  beforeAll(async () => {
    const { url, call, admin } = using.platform;
    const scopes = ['crawl:read', 'crawl:write', 'user:read', 'pat:read'];
    // Without the one that acts for a person.
    const ofMachines = scopes.slice(0, 3);
    for (const name of NAMES) {
      const { token } = await call<{ token: { id: string } }>('POST', TOKENS, { name, scopes });
      tokenId = token.id;
      const grantTypes = ['client_credentials'];
      type Registered = { application: { clientId: string } };
      const { application } = await call<Registered>('POST', APPLICATIONS, { name, scopes: ofMachines, grantTypes, role: 'admin' });
      type Account = { serviceAccount: { id: string } };
      const { serviceAccount } = await call<Account>('POST', ACCOUNTS, { name, role: 'admin' });
      await call('POST', `${ACCOUNTS}/${serviceAccount.id}/tokens`, { name, scopes: ofMachines });
      detailPaths.push(
        `/organisation/applications/${application.clientId}`,
        `/organisation/service-accounts/${serviceAccount.id}`,
      );
    }
    const fullName = 'W'.repeat(200);
    await call('POST', '/api/v1/users', { email: LONGEST_EMAIL, fullName, password: admin.password });
    // Its invitation is a mail to a long address.
    await call('POST', '/api/v1/users', { email: `i${LONGEST_EMAIL.slice(1)}`, fullName });
    await call('DELETE', `${TOKENS}/${tokenId}`, { reason: 'W'.repeat(500) });
    await call('POST', '/api/v1/mail/suppressions', { address: LONGEST_EMAIL });
    const endpoint = { url: `https://crawler.example.com/${'w'.repeat(400)}`, description: LONG_WORD };
    await call('POST', '/api/v1/crawlingManager/endpoints', endpoint);
    const mounted = { name: 'w'.repeat(24), url: `http://127.0.0.1:9/${'w'.repeat(400)}` };
    const { server } = await call<{ server: { id: string } }>('POST', '/api/v1/mcp-servers', mounted);
    detailPaths.push(`/organisation/mcp-servers/${server.id}`);
    const scheduleConfig = { scheduleType: 'custom', cronExpression: '*/20 8-18 1-28 * 1-5', timezone: 'America/Argentina/Buenos_Aires' };
    for (const connector of ['wiki_1', 'code_1']) {
      const instances = `/api/v1/crawlingManager/${connector}/instances/${'w'.repeat(40)}`;
      await call('PUT', instances, { displayName: LONG_WORD });
      await call('POST', `${instances}/schedule`, { scheduleConfig });
      await call('POST', `${instances}/run`);
      detailPaths.push(`/crawls/connectors/${connector}:${'w'.repeat(40)}`);
    }
    const { application } = await call<{ application: { clientId: string } }>('POST', APPLICATIONS, appFields(LONG_WORD, scopes));
    await connectApp(await using.open('/account/apps'), { url, clientId: application.clientId, scopes });
  }, 60_000); // prettier-ignore

  async function expectWholeRows(page: Page): Promise<void> {
    await waitForContent(page);
    const faults: string[] = [];
    for (const width of [1440, 1280, 1024, 640, 390, 320]) {
      await page.setViewportSize({ width, height: 800 });
      if (width >= 390)
        for (const fault of await page.evaluate<string[]>(FIND_CUT_ROWS))
          faults.push(`at ${width}: ${fault}`);
      const pageWidth = await page.evaluate<number>('document.documentElement.scrollWidth');
      if (pageWidth > width) faults.push(`at ${width}: the page is ${pageWidth} wide`);
    }
    expect(faults).toEqual([]);
  }

  test.each(SCREENS)('the page %s never scrolls sideways, and its rows end in the window', async (path) => {
    await expectWholeRows(await using.open(path));
  });

  test('so do the pages of single things', async () => {
    const page = await using.open('/');
    for (const path of detailPaths) {
      await page.goto(using.platform.url + path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await expectWholeRows(page);
    }
  }, 30_000);

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
    await link.hover();
    expect(await page.getByTitle(LONG_WORD, { exact: true }).count()).toBe(1);
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
