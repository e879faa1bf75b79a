import { fileURLToPath } from 'node:url';
import { readFileSync } from 'node:fs';
import { type Browser, launchBrowser, type Page, waitFor } from '@platform/testing';
import { createOrganisation, type Person, type Platform } from './platform.js';

export interface OpenOptions {
  readonly as?: Person;
  readonly theme?: 'light' | 'dark';
  readonly width?: number;
  readonly timezone?: string;
}

type Opened = Required<Pick<OpenOptions, 'as' | 'theme' | 'width'>> & { timezone: string | undefined };

/** An organisation of the shared platform and a browser for the tests of a file. Faults of a page fail the test that met them. */
export interface Console {
  readonly platform: Platform;
  readonly page: Page;
  /** Opens a path, signed in. */
  open(path: string, options?: OpenOptions): Promise<Page>;
  /** Accepts faults that match, such as the log line of a refused request. */
  allowFaults(pattern: RegExp): void;
}

const HEIGHT = 800;
const START_MS = 180_000;
const PATIENCE_MS = 60_000;
const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** @param isShared - all tests share one page, which loads the code of the console once: they leave nothing in it. */
export function useConsole({ isShared = false } = {}): Console {
  let platform: Platform;
  let browser: Browser;
  let page: Page;
  /** What the page that can be shared was opened with. */
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
    if (!isShared) await page?.context().close();
    const unexpected = faults.filter((fault) => !allowed.some((pattern) => pattern.test(fault)));
    if (unexpected.length > 0) throw new Error(unexpected.join('\n'));
  });

  async function open(
    path: string,
    { as = platform.admin, theme = 'light', width = 1280, timezone }: OpenOptions = {},
  ) {
    const options = JSON.stringify([as, timezone]);
    if (isShared && options === openedWith) {
      await page.setViewportSize({ width, height: HEIGHT });
      await page.emulateMedia({ colorScheme: theme, forcedColors: null });
      await page.goto(platform.url + path);
    } else {
      openedWith = undefined;
      await openContext(path, { as, theme, width, timezone });
    }
    await page.getByRole('heading', { level: 1 }).and(page.locator('main h1')).waitFor();
    await page
      .getByRole('navigation')
      .or(page.getByRole('button', { name: 'Open the navigation' }))
      .first()
      .waitFor();
    cookies.set(as.email, await page.context().cookies());
    openedWith = options;
    return page;
  }

  async function openContext(path: string, { as, theme, width, timezone }: Opened): Promise<void> {
    await page?.context().close();
    const context = await browser.newContext({
      viewport: { width, height: HEIGHT },
      colorScheme: theme,
      reducedMotion: 'reduce',
      ...(timezone !== undefined && { timezoneId: timezone }),
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    // No test is judged by its speed: a busy machine needs longer than Playwright's half minute.
    context.setDefaultTimeout(PATIENCE_MS);
    page = await context.newPage();
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text());
    });
    await page.addInitScript(
      `addEventListener('securitypolicyviolation', (e) => console.error('policy: ' + e.violatedDirective + ' ' + e.blockedURI))`,
    );
    await signIn(as, path);
  }

  /** Opens a path with the session of an earlier test of the file, or signs in. */
  async function signIn({ email, password }: Person, path: string): Promise<void> {
    await page.context().addCookies(cookies.get(email) ?? []);
    await page.goto(`${platform.url}/sign-in?${new URLSearchParams({ returnTo: path })}`);
    const field = page.getByLabel('E-mail');
    await field.or(page.locator('main h1')).first().waitFor();
    if (!(await field.isVisible())) return;
    await field.fill(email);
    await page.locator('input[type=password]').fill(password);
    await page.keyboard.press('Enter');
  }

  return {
    get platform() {
      return platform;
    },
    get page() {
      return page;
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

/** WCAG 2.2 AA, and the best practices of axe. */
const ALL_RULES = {
  type: 'tag',
  values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
};
const RULES_OF_COLOUR = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };

/**
 * Runs axe on the page as it is, or on a part of it. The region in which react-aria announces pending buttons is left
 * out: it keeps an element that names nothing once its button is gone.
 */
export async function findBarriers(page: Page, within = ':root', runOnly = ALL_RULES): Promise<string[]> {
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(axe);
  const context = JSON.stringify({ include: [[within]], exclude: [['[data-live-announcer]']] });
  const options = JSON.stringify({ runOnly, resultTypes: ['violations'] });
  const { violations } = await page.evaluate<{
    violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
  }>(`axe.run(${context}, ${options})`);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
  );
}

const ALL_LOOKS = [
  { width: 1440, colorScheme: 'light' },
  { width: 1024, colorScheme: 'light' },
  { width: 390, colorScheme: 'light' },
  { width: 1440, colorScheme: 'dark' },
  { width: 390, colorScheme: 'dark' },
] as const;
/** A dialog is the same at each width but that of a phone, and has the same colours at all. */
export const LOOKS_OF_DIALOGS = [ALL_LOOKS[0], ALL_LOOKS[2], ALL_LOOKS[4]] as const;

/** Runs axe in each look, of which only the colours depend on the theme, and leaves the page as narrow as that of a phone, in the dark. */
export async function findBarriersInLooks(
  page: Page,
  within?: string,
  looks: readonly (typeof ALL_LOOKS)[number][] = ALL_LOOKS,
): Promise<string[]> {
  const faults: string[] = [];
  for (const { width, colorScheme } of looks) {
    await page.setViewportSize({ width, height: HEIGHT });
    await page.emulateMedia({ colorScheme });
    const rules = colorScheme === 'light' ? ALL_RULES : RULES_OF_COLOUR;
    for (const fault of await findBarriers(page, within, rules))
      faults.push(`at ${width}, ${colorScheme}: ${fault}`);
  }
  return faults;
}
