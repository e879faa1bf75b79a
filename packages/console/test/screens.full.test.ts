import { describeWith, type Page, waitFor } from '@platform/testing';
import { appFields, connectApp } from '../screenshots/connect-app.mjs';
import { findBarriers, findBarriersInLooks, useConsole, waitForContent } from './console.js';
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

/** Notes each stop of the keyboard that has no ring. */
const WATCH_RINGS = `{
  window.unseen = [];
  const note = ({ key }) => {
    const element = document.activeElement;
    if (key !== 'Tab' || element === document.body || element.nodeName === 'IFRAME') return;
    const box = element.closest('label')?.querySelector('.box') ?? element;
    const hasRing = [element, box].some((one) => getComputedStyle(one).outlineStyle !== 'none');
    if (!hasRing) window.unseen.push(element.outerHTML.slice(0, 120));
  };
  addEventListener('keyup', note, { capture: true });
}`;
const FIND_MOVING = `[...document.querySelectorAll('*')]
  .filter((one) => parseFloat(getComputedStyle(one).transitionDuration) > 0.016 || getComputedStyle(one).scrollBehavior === 'smooth')
  .map((one) => one.outerHTML.slice(0, 80))`;

/** What a person sees of an element, apart from its text. */
const LOOK = `(element) => {
  const { backgroundColor, backgroundImage, borderTopColor, color, outlineStyle } = getComputedStyle(element);
  const before = getComputedStyle(element, '::before').content;
  return [backgroundColor, backgroundImage, borderTopColor, color, outlineStyle, before].join(' ');
}`;

/** Waits for the first of them: what is chosen may depend on an answer that is under way. */
const lookOf = (page: Page, selector: string) =>
  waitFor(
    () =>
      page.evaluate<string | null>(`(() => {
        const element = document.querySelector(${JSON.stringify(selector)});
        return element && (${LOOK})(element);
      })()`),
    { what: `an element ${selector}` },
  );

/** Returns where the given parts of a text are painted, from left to right. */
const measureOrder = (page: Page, selector: string, parts: readonly string[]) =>
  page
    .locator(selector)
    .first()
    .evaluate((element, searched) => {
      const nodes: Text[] = [];
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) nodes.push(walker.currentNode as Text);
      // No function here has a name: the loader of the tests would refer to its own helper for that.
      const found = searched.map((part) => {
        const node = nodes.find(({ data }) => data.includes(part));
        if (!node) throw new Error(`There is no ${part}.`);
        const range = document.createRange();
        range.setStart(node, node.data.indexOf(part));
        range.setEnd(node, node.data.indexOf(part) + part.length);
        return { part, left: range.getBoundingClientRect().left };
      });
      return found.toSorted((one, other) => one.left - other.left).map(({ part }) => part);
    }, parts);

describeWith('chromium', 'every screen', () => {
  const using = useConsole();
  const detailPaths: string[] = [];
  let revokedId = '';

  async function createGroup(name: string, member: string): Promise<string> {
    const { call } = using.platform;
    const { group } = await call<{ group: { id: string } }>('POST', '/api/v1/groups', { name });
    await call('PUT', `/api/v1/groups/${group.id}/members/${member}`);
    return group.id;
  }

  beforeAll(async () => {
    const { url, call, admin } = using.platform;
    const scopes = ['crawl:read', 'crawl:write', 'user:read', 'pat:read'];
    // Without the scope that acts for a person.
    const ofMachines = scopes.slice(0, 3);
    const grantTypes = ['client_credentials'];
    for (const name of NAMES) {
      const { token } = await call<{ token: { id: string } }>('POST', TOKENS, { name, scopes });
      type Registered = { application: { clientId: string } };
      const { application } = await call<Registered>('POST', APPLICATIONS, { name, scopes: ofMachines, grantTypes, role: 'admin' });
      type Account = { serviceAccount: { id: string } };
      const { serviceAccount } = await call<Account>('POST', ACCOUNTS, { name, role: 'admin' });
      await call('POST', `${ACCOUNTS}/${serviceAccount.id}/tokens`, { name, scopes: ofMachines });
      revokedId = token.id;
      if (name === LONG_WORD)
        detailPaths.push(
          `/organisation/groups/${await createGroup(name, serviceAccount.id)}`,
          `/account/tokens/${token.id}`,
          `/organisation/applications/${application.clientId}`,
          `/organisation/service-accounts/${serviceAccount.id}`,
        );
    }
    await call('DELETE', `${TOKENS}/${revokedId}`, { reason: 'W'.repeat(500) });
    const fullName = 'W'.repeat(200);
    type Created = { user: { id: string } };
    const longest = { email: LONGEST_EMAIL, fullName, password: admin.password };
    const { user } = await call<Created>('POST', '/api/v1/users', longest);
    detailPaths.push(`/organisation/members/${user.id}`);
    // Its invitation is a mail to a long address.
    await call('POST', '/api/v1/users', { email: `i${LONGEST_EMAIL.slice(1)}`, fullName });
    await call('POST', '/api/v1/mail/suppressions', { address: LONGEST_EMAIL });
    const endpoint = { url: `https://crawler.example.com/${'w'.repeat(400)}`, description: LONG_WORD };
    await call('POST', '/api/v1/crawlingManager/endpoints', endpoint);
    const mounted = { name: 'w'.repeat(24), url: `http://127.0.0.1:9/${'w'.repeat(400)}` };
    const { server } = await call<{ server: { id: string } }>('POST', '/api/v1/mcp-servers', mounted);
    const scheduleConfig = { scheduleType: 'custom', cronExpression: '*/20 8-18 1-28 * 1-5', timezone: 'America/Argentina/Buenos_Aires' };
    const instance = `/api/v1/crawlingManager/wiki_1/instances/${'w'.repeat(40)}`;
    await call('PUT', instance, { displayName: LONG_WORD });
    await call('POST', `${instance}/schedule`, { scheduleConfig });
    await call('POST', `${instance}/run`);
    detailPaths.push(`/organisation/mcp-servers/${server.id}`, `/crawls/connectors/wiki_1:${'w'.repeat(40)}`);
    const { application } = await call<{ application: { clientId: string } }>('POST', APPLICATIONS, appFields(LONG_WORD, scopes));
    await connectApp(await using.open('/account/apps'), { url, clientId: application.clientId, scopes });
  }); // oxfmt-ignore

  /** Finds a page that scrolls sideways, and rows that do not end in it. */
  async function findOverflow(page: Page): Promise<string[]> {
    const faults: string[] = [];
    for (const width of [1440, 1024, 640, 390, 320]) {
      await page.setViewportSize({ width, height: 800 });
      if (width >= 390)
        for (const fault of await page.evaluate<string[]>(FIND_CUT_ROWS))
          faults.push(`at ${width}: ${fault}`);
      const pageWidth = await page.evaluate<number>('document.documentElement.scrollWidth');
      if (pageWidth > width) faults.push(`at ${width}: the page is ${pageWidth} wide`);
    }
    return faults;
  }

  /** Goes through a page by Tab. @returns the stops that are not seen where the system forces its colours. */
  async function findUnseenStops(page: Page): Promise<string[]> {
    await page.emulateMedia({ forcedColors: 'active' });
    await page.evaluate(WATCH_RINGS);
    for (let step = 0; step < 30; step += 1) await page.keyboard.press('Tab');
    return page.evaluate<string[]>('window.unseen');
  }

  async function findMovement(page: Page): Promise<string[]> {
    await waitFor(async () => (await page.evaluate('document.getAnimations().length')) === 0, {
      what: 'the end of all movement',
    });
    return page.evaluate<string[]>(FIND_MOVING);
  }

  async function examine(page: Page): Promise<void> {
    await waitForContent(page);
    const found = {
      barriers: await findBarriersInLooks(page),
      overflow: await findOverflow(page),
      unseenStops: await findUnseenStops(page),
      movement: await findMovement(page),
    };
    expect(found).toEqual({ barriers: [], overflow: [], unseenStops: [], movement: [] });
  }

  test.each(SCREENS)(
    'UI-6 %s is accessible in both themes, fits every width with the longest names, and shows where the focus is',
    async (path, title) => {
      const page = await using.open(path);
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
      await examine(page);
    },
  );

  test('UI-6 so do the pages of single things', async () => {
    for (const path of detailPaths) await examine(await using.open(path));
  });

  test('the list of screens contains every screen of the navigation', async () => {
    const page = await using.open('/account/tokens');
    const links = page.getByRole('navigation').getByRole('link');
    const paths = await links.evaluateAll((found) =>
      found.map((link) => (link as HTMLAnchorElement).pathname),
    );
    const known: readonly string[] = SCREENS.map(([path]) => path);
    expect(paths.filter((path) => path !== '/' && !known.includes(path))).toEqual([]);
  });

  test('a long name is cut at the end of its line in a list and leaves the words beside it whole; its page has all of it', async () => {
    const page = await using.open('/organisation/members');
    const cell = page.getByRole('row', { name: LONGEST_EMAIL }).getByText('Member', { exact: true });
    const lines = await cell.evaluate((element) => {
      const range = document.createRange();
      range.selectNodeContents(element);
      return range.getClientRects().length;
    });
    expect(lines).toBe(1);

    await using.open('/organisation/service-accounts', { width: 390 });
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

    await using.open(`/account/tokens/${revokedId}`);
    const reason = page.getByText('W'.repeat(500));
    expect(await reason.evaluate((element) => element.scrollWidth - element.clientWidth)).toBeLessThan(2);
  });

  test('a name from right to left keeps its own order in a list and in a question, and leaves the words around it where they are', async () => {
    // It ends in a neutral character, which would take the direction of the words around the name.
    const name = 'שרה!';
    await using.platform.call('POST', TOKENS, { name, scopes: ['crawl:read'] });
    const page = await using.open('/account/tokens');
    await page.getByRole('row', { name }).waitFor();
    expect(await measureOrder(page, 'tbody [role=rowheader]', ['שרה', '!'])).toEqual(['!', 'שרה']);
    await page.getByRole('row', { name }).getByRole('button').click();
    await page.getByRole('menuitem', { name: 'Revoke…' }).click();
    await page.getByRole('dialog').waitFor();
    const words = ['Revoke', '!', 'שרה', '?'];
    expect(await measureOrder(page, '[role=dialog] :is(h2, h3)', words.toReversed())).toEqual(words);
  });

  test('UI-6 with forced colours, what is chosen or has the focus is distinguished from what is not', async () => {
    const page = await using.open('/account/tokens');
    await page.emulateMedia({ forcedColors: 'active' });
    const expectDistinct = async (chosen: string, other: string): Promise<void> => {
      expect([chosen, await lookOf(page, chosen)]).not.toEqual([chosen, await lookOf(page, other)]);
    };
    await expectDistinct('nav a[aria-current=page]', 'nav a:not([aria-current])');
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Laptop');
    await expectDistinct('.card[data-selected]', '.card:not([data-selected])');
    await expectDistinct('[data-selected] > .box', ':not([data-selected]) > .box');
    await expectDistinct('input[data-focused]', 'textarea:not([data-focused])');
    await page.getByRole('button', { name: /Expires after/ }).click();
    await page.keyboard.press('ArrowDown');
    await expectDistinct('[role=option][data-focused]', '[role=option]:not([data-focused])');
    await expectDistinct('[role=option][data-selected]', '[role=option]:not([data-selected], [data-focused])');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByRole('tab').first().waitFor();
    await expectDistinct('[role=tab][data-selected]', '[role=tab]:not([data-selected])');
    await page.getByRole('button', { name: 'Done' }).click();

    await using.open('/mails');
    await page.emulateMedia({ forcedColors: 'active' });
    await expectDistinct('.react-aria-ToggleButton[data-selected]', '.react-aria-ToggleButton:not([data-selected])');
    const looks = await page.evaluate<string[]>(`(() => {
      const marks = document.createElement('span');
      marks.className = 'marks';
      document.body.append(marks);
      return ['good', 'bad', 'notice', 'busy', 'neutral'].map((tone) => {
        const mark = document.createElement('i');
        mark.dataset.tone = tone;
        marks.append(mark);
        return (${LOOK})(mark);
      });
    })()`);
    expect(new Set(looks).size).toBe(looks.length);
  }); // oxfmt-ignore

  test('UI-6 buttons under the pointer have enough contrast in the dark theme', async () => {
    const page = await using.open('/account/tokens', { theme: 'dark' });
    const button = page.getByRole('button', { name: 'New token' }).first();
    await button.hover();
    await waitFor(async () => (await button.getAttribute('data-hovered')) !== null, { what: 'the hover' });
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole('row', { name: LONG_WORD }).getByRole('button').click();
    await page.getByRole('menuitem', { name: 'Revoke…' }).click();
    const dangerous = page.getByRole('button', { name: 'Revoke token' });
    await dangerous.hover();
    await waitFor(async () => (await dangerous.getAttribute('data-hovered')) !== null, { what: 'the hover' });
    expect(await findBarriers(page, '[role=dialog]')).toEqual([]);
  });
});
