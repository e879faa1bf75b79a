import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findFreePort, launchChildServer } from '@platform/embedded';
import { chromium } from 'playwright-core';
import type { Fixture } from '../../runner/fixture.js';

const START = fileURLToPath(new URL('../../../../local/start.mjs', import.meta.url));
const PASSWORD = 'correct-horse-battery';

interface Screen {
  readonly path: string;
  /** The screen with the link, where that is not in the navigation. */
  readonly from?: string;
  /** Whether it is a list that has rows. */
  readonly hasRows: boolean;
}

/** Home, and every list that grows. */
export const screens: readonly Screen[] = [
  { path: '/', hasRows: false },
  { path: '/account/tokens', hasRows: true },
  { path: '/organisation/tokens', from: '/account/tokens', hasRows: true },
  { path: '/crawls', hasRows: true },
  { path: '/crawls/connectors/wiki_1', from: '/crawls', hasRows: true },
  { path: '/crawls/queue', from: '/crawls', hasRows: true },
  { path: '/crawls/sync-events', from: '/crawls', hasRows: true },
  { path: '/mails', hasRows: true },
  { path: '/organisation/members', hasRows: true },
  { path: '/activity/audit', hasRows: true },
];

/** Starts the platform as `npm start` does, and fills it. @returns its URL. */
async function startPlatform({ folder, keep }: Fixture): Promise<string> {
  const port = await findFreePort();
  const options = {
    port,
    'inbox-port': await findFreePort(),
    'smtp-catcher-port': await findFreePort(),
    'data-dir': join(folder, 'data'),
    'admin-password': PASSWORD,
  };
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const command = [process.execPath, START, '--no-demo', ...flags];
  const [ready, fault] = [/Stop with Ctrl-C/, /Error/];
  const given = {
    name: 'The platform',
    command,
    ready,
    fault,
    onLog: () => undefined,
    temporaryDir: undefined,
  };
  keep(await launchChildServer(given));
  const url = `http://localhost:${port}`;
  await fill(url);
  return url;
}

const ROWS = 1_500;
/** Of one connector the platform keeps 200. */
const RUNS = 200;
const AT_ONCE = 5;

/** Creates tokens, members with a mail each, and runs; all of them have entries in the audit log. */
async function fill(url: string): Promise<void> {
  let token = '';
  async function call<Body>(method: string, path: string, body?: object): Promise<Body | undefined> {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        ...(token !== '' && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    // A run of the connector is in progress.
    if (response.status === 409) return undefined;
    if (response.status === 503) {
      await delay(100);
      return call<Body>(method, path, body);
    }
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}`);
    return (await response.json()) as Body;
  }
  const credentials = { email: 'admin@example.com', password: PASSWORD };
  token = (await call<{ accessToken: string }>('POST', '/auth/login', credentials))?.accessToken ?? '';
  for (let start = 0; start < ROWS; start += AT_ONCE)
    await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, offset) => {
        const number = start + offset;
        await call('POST', '/personal-access-tokens', { name: `Token ${number}`, scopes: ['crawl:read'] });
        await call('POST', '/users', { email: `m${number}@example.com`, fullName: `Member ${number}` });
      }),
    );
  const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 30, timezone: 'UTC' };
  const known = await call<{ data: { connector: string }[] }>('GET', '/crawlingManager/connectors');
  for (const { connector } of known?.data ?? [])
    await call('POST', `/crawlingManager/${connector}/schedule`, { scheduleConfig });
  for (let count = 0; count < RUNS;) {
    if (await call('POST', '/crawlingManager/wiki_1/run')) count += 1;
    else await delay(10);
  }
}

/** Starts the platform and a browser, and signs in. */
export async function startConsole(fixture: Fixture) {
  const url = await startPlatform(fixture);
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium-headless-shell',
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  fixture.keep({ stop: () => browser.close() });
  const page = await browser.newPage();
  await page.goto(`${url}/sign-in`);
  await page.getByLabel('E-mail').fill('admin@example.com');
  await page.locator('input[type=password]').fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.locator('main h1').waitFor();
  const storageState = await page.context().storageState();
  await page.context().close();
  return {
    /** Opens a page of the console in a browser context that has the session and an empty cache. */
    async open(path: string) {
      const context = await browser.newContext({ storageState, viewport: { width: 1280, height: 800 } });
      const opened = await context.newPage();
      await opened.goto(url + path);
      await opened.locator('main h1').waitFor();
      return opened;
    },
  };
}
