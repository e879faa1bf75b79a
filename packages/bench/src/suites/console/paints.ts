import { screens } from './screens.js';
import { openFreshPage, type SignedIn } from './session.js';

const TIMES = 5;

/** Reads the browser's own measurement once no larger element can follow. */
const READ_PAINT = `new Promise((resolve) => {
  new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime))
    .observe({ type: 'largest-contentful-paint', buffered: true });
})`;

async function measurePaint(signedIn: SignedIn, path: string): Promise<number> {
  const page = await openFreshPage(signedIn);
  await page.goto(signedIn.url + path);
  await page.locator('main h1').waitFor();
  await page.waitForLoadState('networkidle');
  const paint = await page.evaluate<number>(READ_PAINT);
  await page.context().close();
  return paint;
}

/** @returns the largest contentful paints of each screen, in milliseconds since the navigation began, with nothing cached. */
export async function measurePaints(signedIn: SignedIn): Promise<number[][]> {
  const measured: number[][] = [];
  for (const { path } of screens) {
    const tookMs: number[] = [];
    for (let time = 0; time < TIMES; time += 1) tookMs.push(await measurePaint(signedIn, path));
    measured.push(tookMs);
  }
  return measured;
}
