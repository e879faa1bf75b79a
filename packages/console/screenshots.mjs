// Renews docs/console: each screen in both themes, and some on a phone, of a platform with data in it.
//   npm run screenshots
//   npm run screenshots -- account apps      these only
//   npm run screenshots -- sign-in           only the pages of the sign-in, in docs/console/sign-in
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { fillPlatform } from './screenshots/example-data.mjs';
import { SHOTS } from './screenshots/shots.mjs';
import { takeSignInPages } from './screenshots/sign-in-pages.mjs';
import { startWikiServer } from './screenshots/wiki-server.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const OUT = join(ROOT, 'docs/console');
const PORT = Number(process.env['SCREENSHOTS_PORT'] ?? 8480);
const URL_OF_PLATFORM = `http://localhost:${PORT}`;
const ADMIN = { email: 'admin@example.com', password: 'correct-horse-battery' };
const NAMES = process.argv.slice(2);
const BROWSER = process.env['CHROMIUM'] ?? '/usr/bin/chromium-headless-shell';

async function startPlatform(folder) {
  const options = {
    port: PORT,
    'inbox-port': PORT + 1,
    'smtp-catcher-port': PORT + 2,
    'data-dir': join(folder, 'data'),
    'admin-password': ADMIN.password,
  };
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = spawn(process.execPath, ['packages/local/start.mjs', '--no-demo', ...flags], {
    cwd: ROOT,
  });
  const exited = new Promise((done) => child.once('close', done));
  let output = '';
  await new Promise((done, fail) => {
    child.stdout.on('data', (chunk) => {
      output += chunk;
      if (output.includes('Stop with Ctrl-C')) done();
    });
    child.stderr.on('data', (chunk) => (output += chunk));
    child.once('close', () => fail(new Error(output)));
  });
  return {
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

async function openPage(browser, { theme, width, height }) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: 'reduce',
    timezoneId: 'Europe/Berlin',
  });
  return context.newPage();
}

async function signIn(browser, form) {
  const page = await openPage(browser, form);
  await page.goto(`${URL_OF_PLATFORM}/sign-in`);
  await page.getByLabel('E-mail').fill(ADMIN.email);
  await page.locator('input[type=password]').fill(ADMIN.password);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1 }).waitFor();
  return page;
}

async function takeAll(browser, form) {
  const page = await signIn(browser, form);
  const shots = SHOTS.filter(
    ({ name, isOnPhone }) => (!form.isPhone || isOnPhone) && (NAMES.length === 0 || NAMES.includes(name)),
  );
  for (const { name, path, act } of shots) {
    await page.goto(URL_OF_PLATFORM + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await act?.(page);
    await page.waitForLoadState('networkidle');
    await page.screenshot({ path: join(OUT, `${name}-${form.isPhone ? 'phone' : form.theme}.png`) });
  }
  await page.context().close();
}

const SIGN_IN = 'sign-in';

/** The pages of the sign-in are short: each is pictured whole, in both themes and both widths. */
async function takeSignIn(browser) {
  const folder = join(OUT, SIGN_IN);
  await mkdir(folder, { recursive: true });
  for (const theme of ['light', 'dark'])
    for (const [device, width] of [
      ['desk', 1280],
      ['phone', 390],
    ]) {
      const page = await openPage(browser, { theme, width, height: 800 });
      const take = async (name) => {
        await page.screenshot({ path: join(folder, `${name}-${device}-${theme}.png`), fullPage: true });
      };
      await takeSignInPages(page, { url: URL_OF_PLATFORM, admin: ADMIN, take });
      await page.context().close();
    }
}

async function takeConsole(browser, wiki) {
  const connectApps = await fillPlatform(URL_OF_PLATFORM, ADMIN, wiki);
  const desk = { width: 1280, height: 800 };
  const page = await signIn(browser, { ...desk, theme: 'light' });
  await connectApps(page);
  await page.context().close();
  await takeAll(browser, { ...desk, theme: 'light' });
  await takeAll(browser, { ...desk, theme: 'dark' });
  await takeAll(browser, { width: 390, height: 844, theme: 'light', isPhone: true });
}

const folder = await mkdtemp(join(tmpdir(), 'screenshots-'));
const wiki = await startWikiServer();
const platform = await startPlatform(folder);
const browser = await chromium.launch({
  executablePath: BROWSER,
  args: ['--no-sandbox', '--disable-dev-shm-usage'],
});
try {
  await mkdir(OUT, { recursive: true });
  if (NAMES.length === 0 || NAMES.some((name) => name !== SIGN_IN)) await takeConsole(browser, wiki);
  if (NAMES.length === 0 || NAMES.includes(SIGN_IN)) await takeSignIn(browser);
} finally {
  await browser.close();
  await platform.stop();
  await wiki.close();
  await rm(folder, { recursive: true, force: true });
}
