import type { Page } from 'playwright-core';
import { screens } from './screens.js';
import { openFreshPage, type SignedIn } from './session.js';

const TIMES = 5;

/** Measures the time from the click to the frame after the new heading appears, as a user sees it. */
const measureChange = (link: string) => `new Promise((resolve) => {
  const heading = () => document.querySelector('main h1')?.textContent;
  const before = heading();
  const at = performance.now();
  const observer = new MutationObserver(() => {
    if (heading() === undefined || heading() === before) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - at)));
  });
  observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  [...document.querySelectorAll('nav a')].find(({ textContent }) => textContent === ${JSON.stringify(link)}).click();
})`;

async function visit(page: Page, link: string): Promise<number> {
  // The pointer hovers over a link before the click, which is when the code of its screen is loaded.
  await page.getByRole('navigation').getByRole('link', { name: link, exact: true }).hover();
  await page.waitForLoadState('networkidle');
  return page.evaluate<number>(measureChange(link));
}

/** @returns how long the first visits to each screen from another one took, in milliseconds. */
export async function measureRouteChanges(signedIn: SignedIn): Promise<number[][]> {
  const measured = screens.map(({ link }) => ({ link, tookMs: [] as number[] }));
  for (let time = 0; time < TIMES; time += 1) {
    const page = await openFreshPage(signedIn);
    await page.goto(`${signedIn.url}/organisation/tokens`);
    await page.locator('main h1').waitFor();
    for (const { link, tookMs } of measured) tookMs.push(await visit(page, link));
    await page.context().close();
  }
  return measured.map(({ tookMs }) => tookMs);
}
