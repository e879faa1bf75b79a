import type { Browser, BrowserContext, Page } from 'playwright-core';
import { PASSWORD } from './platform.js';

/** A browser that has signed in. */
export interface SignedIn {
  readonly url: string;
  readonly browser: Browser;
  readonly session: Awaited<ReturnType<BrowserContext['storageState']>>;
}

/** Signs in once; each measurement then starts with the cookies only. */
export async function signIn(browser: Browser, url: string): Promise<SignedIn['session']> {
  const page = await browser.newPage();
  await page.goto(`${url}/sign-in`);
  await page.getByLabel('E-mail').fill('admin@example.com');
  await page.locator('input[type=password]').fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.locator('main h1').waitFor();
  const session = await page.context().storageState();
  await page.context().close();
  return session;
}

/** Opens a page of a browser that has the session and an empty cache. */
export async function openFreshPage({ browser, session }: SignedIn): Promise<Page> {
  const context = await browser.newContext({ storageState: session, viewport: { width: 1280, height: 800 } });
  return context.newPage();
}
