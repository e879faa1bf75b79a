import { fileURLToPath } from 'node:url';
import { readFileSync } from 'node:fs';
import { type Browser, launchBrowser, type Page, waitFor } from '@platform/testing';
import { createOrganisation, type Person, type Platform } from './platform.js';

export interface OpenOptions {
  readonly as?: Person;
  readonly theme?: 'light' | 'dark';
  readonly width?: number;
  readonly timezone?: string;
  /** As another browser: for what a test cannot undo, such as a fixed clock, or needs to find untouched. */
  readonly isNewBrowser?: boolean;
}

/** An organisation of the shared platform and a browser for the tests of a file. Faults of a page fail the test that met them. */
export interface Console {
  readonly platform: Platform;
  /** Opens a path, signed in. */
  open(path: string, options?: OpenOptions): Promise<Page>;
  /** Accepts faults that match, such as the log line of a refused request. */
  allowFaults(pattern: RegExp): void;
}

const HEIGHT = 800;
const START_MS = 180_000;
const PATIENCE_MS = 60_000;
const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/**
 * The tests of a file share one page as long as they open it as the same person: it loads the code of the console once.
 * What a test changes about the page (routes, the network, cookies, its listeners for requests) is undone after it.
 */
export function useConsole(): Console {
  let platform: Platform;
  let browser: Browser;
  let page: Page | undefined;
  /** What the page was opened with. */
  let openedWith: string | undefined;
  let faults: string[] = [];
  let allowed: RegExp[] = [];
  /** The sessions of the people who have signed in. */
  const cookies = new Map<string, Awaited<ReturnType<ReturnType<Page['context']>['cookies']>>>();

  beforeAll(async () => {
    // Each is kept as soon as it is there: when the other fails, it still has to be closed.
    await Promise.all([
      createOrganisation().then((created) => (platform = created)),
      launchBrowser().then((launched) => (browser = launched)),
    ]);
  }, START_MS);
  afterAll(async () => {
    await browser?.close();
  });
  beforeEach(() => {
    faults = [];
    allowed = [];
  });
  afterEach(async () => {
    if (page !== undefined) await reset(page);
    const unexpected = faults.filter((fault) => !allowed.some((pattern) => pattern.test(fault)));
    if (unexpected.length > 0) throw new Error(unexpected.join('\n'));
  });

  async function reset(shared: Page): Promise<void> {
    await shared.unrouteAll({ behavior: 'ignoreErrors' });
    shared.removeAllListeners('request');
    await shared.context().setOffline(false);
    // What the page would still request meets the conditions of no other test. At the same origin, Chromium keeps the
    // process of the page, and what it has compiled: the next test opens its screen in a third of the time.
    await shared.goto(`${platform.url}/health/live`);
  }

  async function open(
    path: string,
    { as = platform.admin, theme = 'light', width = 1280, timezone, isNewBrowser = false }: OpenOptions = {},
  ): Promise<Page> {
    const options = JSON.stringify([as, timezone]);
    if (page === undefined || options !== openedWith || isNewBrowser) {
      await page?.context().close();
      page = await openPage(timezone);
    }
    openedWith = isNewBrowser ? undefined : options;
    await page.setViewportSize({ width, height: HEIGHT });
    await page.emulateMedia({ colorScheme: theme, forcedColors: null });
    await signIn(page, as, path);
    await page.getByRole('heading', { level: 1 }).and(page.locator('main h1')).waitFor();
    await page
      .getByRole('navigation')
      .or(page.getByRole('button', { name: 'Open the navigation' }))
      .first()
      .waitFor();
    cookies.set(as.email, await page.context().cookies());
    return page;
  }

  async function openPage(timezone: string | undefined): Promise<Page> {
    const context = await browser.newContext({
      reducedMotion: 'reduce',
      ...(timezone !== undefined && { timezoneId: timezone }),
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    // No test is judged by its speed: a busy machine needs longer than Playwright's half minute.
    context.setDefaultTimeout(PATIENCE_MS);
    const opened = await context.newPage();
    opened.on('pageerror', (error) => faults.push(error.message));
    opened.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text());
    });
    await opened.addInitScript(
      `addEventListener('securitypolicyviolation', (e) => console.error('policy: ' + e.violatedDirective + ' ' + e.blockedURI))`,
    );
    return opened;
  }

  /** Opens a path with the session of an earlier test of the file, or signs in. */
  async function signIn(opened: Page, { email, password }: Person, path: string): Promise<void> {
    await opened.context().addCookies(cookies.get(email) ?? []);
    await opened.goto(`${platform.url}/sign-in?${new URLSearchParams({ returnTo: path })}`);
    const field = opened.getByRole('textbox', { name: 'E-mail' });
    await field.or(opened.locator('main h1')).first().waitFor();
    // A dialog of the console may ask for an address, too.
    if (!opened.url().includes('/sign-in') || !(await field.isVisible())) return;
    await field.fill(email);
    await opened.locator('input[type=password]').fill(password);
    await opened.keyboard.press('Enter');
  }

  return {
    get platform() {
      return platform;
    },
    open,
    allowFaults: (pattern) => void allowed.push(pattern),
  };
}

/** Presses the button that copies a text. @returns what it copied. */
export async function copy(page: Page, label: string): Promise<string> {
  await page.getByRole('button', { name: `Copy: ${label}` }).click();
  await page.getByRole('button', { name: `Copied: ${label}` }).waitFor();
  return page.evaluate<string>('navigator.clipboard.readText()');
}

/** Waits until nothing of the page is being loaded. */
export const waitForContent = (page: Page) =>
  waitFor(async () => (await page.getByText('Loading…').count()) === 0, { what: 'the content' });

/** Measures how far what is shown has moved since the page was opened (Cumulative Layout Shift). */
export const getLayoutShift = (page: Page): Promise<number> =>
  page.evaluate<number>(`new Promise((resolve) => {
    let sum = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value;
    }).observe({ type: 'layout-shift', buffered: true });
    setTimeout(() => resolve(sum), 200);
  })`);

/** WCAG 2.2 AA, and the best practices of axe. */
const ALL_RULES = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
};
const RULES_OF_COLOUR = { runOnly: ['color-contrast', 'link-in-text-block'] };

/**
 * Runs axe on the page as it is, or on a part of it. The region in which react-aria announces pending buttons is left
 * out: it keeps an element that names nothing once its button is gone.
 */
export async function findBarriers(page: Page, within = ':root', rules = ALL_RULES): Promise<string[]> {
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(axe);
  const context = JSON.stringify({ include: [[within]], exclude: [['[data-live-announcer]']] });
  const options = JSON.stringify({ ...rules, resultTypes: ['violations'] });
  const { violations } = await page.evaluate<{
    violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
  }>(`axe.run(${context}, ${options})`);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
  );
}

/** Only colours depend on the theme. A phone shows some elements that a desk does not. */
const LOOKS = [
  { width: 1440, colorScheme: 'light', rules: ALL_RULES },
  { width: 1440, colorScheme: 'dark', rules: RULES_OF_COLOUR },
  { width: 390, colorScheme: 'light', rules: ALL_RULES },
] as const;

/** Runs axe on a page in both themes and on a phone, and leaves it as narrow as that, and light. */
export async function findBarriersInLooks(page: Page): Promise<string[]> {
  const faults: string[] = [];
  for (const { width, colorScheme, rules } of LOOKS) {
    await page.setViewportSize({ width, height: HEIGHT });
    await page.emulateMedia({ colorScheme });
    for (const fault of await findBarriers(page, ':root', rules))
      faults.push(`at ${width}, ${colorScheme}: ${fault}`);
  }
  return faults;
}

/** Runs axe on a part of a page, such as a dialog, in both themes, of which only the colours differ. */
export async function findBarriersInThemes(page: Page, within: string): Promise<string[]> {
  const faults = await findBarriers(page, within);
  await page.emulateMedia({ colorScheme: 'dark' });
  for (const fault of await findBarriers(page, within, RULES_OF_COLOUR)) faults.push(`in the dark: ${fault}`);
  await page.emulateMedia({ colorScheme: 'light' });
  return faults;
}
