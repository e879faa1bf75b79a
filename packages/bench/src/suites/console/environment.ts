import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePort, launchChildServer } from '@platform/embedded';
import { chromium } from 'playwright-core';
import type { Fixture } from '../../runner/fixture.js';

const START = fileURLToPath(new URL('../../../../local/start.mjs', import.meta.url));
const PASSWORD = 'correct-horse-battery';

/** One screen of each kind, with the name of its link. */
export const screens = [
  { path: '/', link: 'Getting started' },
  { path: '/account/tokens', link: 'My tokens' },
  { path: '/crawls', link: 'Crawls' },
  { path: '/crawls/queue', link: 'Queue' },
  { path: '/mails', link: 'Mails' },
  { path: '/organisation/members', link: 'Members' },
  { path: '/organisation/audit', link: 'Audit log' },
] as const;

/** Starts the platform as `npm start` does, with an empty organisation. @returns its URL. */
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
  return `http://localhost:${port}`;
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
