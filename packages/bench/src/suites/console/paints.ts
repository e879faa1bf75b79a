import type { Browser } from 'playwright-core';
import { screens } from './screens.js';
import { openFreshPage } from './session.js';

const TIMES = 5;

/** Reads the browser's own measurement once no larger element can follow. */
const READ_PAINT = `new Promise((resolve) => {
  new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime))
    .observe({ type: 'largest-contentful-paint', buffered: true });
})`;

async function measurePaint(browser: Browser, url: string): Promise<number> {
  const page = await openFreshPage(browser);
  await page.goto(url);
  await page.locator('main h1').waitFor();
  await page.waitForLoadState('networkidle');
  const paint = await page.evaluate<number>(READ_PAINT);
  await page.context().close();
  return paint;
}

/**
 * Measures the largest contentful paint of each screen, in milliseconds since the navigation began, with nothing
 * cached.
 */
export async function measurePaints(browser: Browser, url: string) {
  const measured: { name: string; ms: number[] }[] = [];
  for (const [name, { path }] of Object.entries(screens)) {
    const ms: number[] = [];
    for (let time = 0; time < TIMES; time += 1) ms.push(await measurePaint(browser, url + path));
    measured.push({ name, ms });
  }
  return measured;
}
