import type { Browser, BrowserContext, Page } from 'playwright-core';
import { PASSWORD } from './platform.js';

type State = Awaited<ReturnType<BrowserContext['storageState']>>;
let state: State | undefined;

/** Signs in once; each measurement then starts with the cookies only. */
export async function openSession(browser: Browser, url: string): Promise<void> {
  const page = await browser.newPage();
  await page.goto(`${url}/sign-in`);
  await page.getByLabel('E-mail').fill('admin@example.com');
  await page.locator('input[type=password]').fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.locator('main h1').waitFor();
  state = await page.context().storageState();
  await page.context().close();
}

/** Opens a page of a browser that has the session and an empty cache. */
export async function openFreshPage(browser: Browser): Promise<Page> {
  const context = await browser.newContext({
    ...(state && { storageState: state }),
    viewport: { width: 1280, height: 800 },
  });
  return context.newPage();
}
