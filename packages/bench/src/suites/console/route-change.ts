import { defineMeasurement, median } from '../../runner/measurement.js';
import { screens, startConsole } from './environment.js';

const TIMES = 5;
/** UI-7. */
const MAX_MS = 100;

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

export const routeChange = defineMeasurement({
  title: 'the first visit to each screen from another one',
  limitSeconds: 120,
  values: {
    route_change_vs_bar: {
      bar: { max: 1 },
      note: `from a press on a link to the painted heading / ${MAX_MS} ms`,
    },
  },
  async run(fixture) {
    const { open } = await fixture.share(startConsole);
    const measured = screens.map(({ link }) => ({ link, tookMs: [] as number[] }));
    for (let time = 0; time < TIMES; time += 1) {
      const page = await open('/organisation/tokens');
      for (const { link, tookMs } of measured) {
        // The pointer hovers over a link before the click, which is when the code of its screen is loaded.
        await page.getByRole('navigation').getByRole('link', { name: link, exact: true }).hover();
        await page.waitForLoadState('networkidle');
        tookMs.push(await page.evaluate<number>(measureChange(link)));
      }
      await page.context().close();
    }
    return { route_change_vs_bar: Math.max(...measured.map(({ tookMs }) => median(tookMs))) / MAX_MS };
  },
});
