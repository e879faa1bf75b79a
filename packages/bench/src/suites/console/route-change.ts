import type { Page } from 'playwright-core';
import { defineMeasurement, median } from '../../runner/measurement.js';
import { screens, startConsole } from './environment.js';

const TIMES = 5;
/** UI-7. */
const MAX_MS = 100;
const ROWS_MAX_MS = 300;

/** Of the navigation, of the views of a place, or of a row. */
const toLink = (path: string): string => `:is(nav .group, .views, main tbody) a[href="${path}"]`;

/**
 * Measures the times from the click to the frame after the new heading appears, and after the rows do, as a user sees
 * them.
 */
const measureChange = (path: string, hasRows: boolean) => `new Promise((resolve) => {
  const heading = () => document.querySelector('main h1')?.textContent;
  const before = heading();
  const at = performance.now();
  const took = {};
  const note = (name) => {
    took[name] = 0;
    requestAnimationFrame(() => setTimeout(() => {
      took[name] = performance.now() - at;
      if (took.heading > 0 && (took.rows > 0 || !${hasRows})) {
        observer.disconnect();
        resolve(took);
      }
    }));
  };
  const observer = new MutationObserver(() => {
    if (heading() === undefined || heading() === before) return;
    if (took.heading === undefined) note('heading');
    if (took.rows === undefined && document.querySelector('main tbody tr')) note('rows');
  });
  observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  document.querySelector(${JSON.stringify(toLink(path))}).click();
})`;

interface Took {
  readonly heading: number;
  readonly rows?: number;
}

/** The pointer hovers over a link before the click, which is when the code of its screen is loaded. */
async function change(page: Page, path: string, hasRows: boolean): Promise<Took> {
  await page.locator(toLink(path)).hover();
  await page.waitForLoadState('networkidle');
  return page.evaluate<Took>(measureChange(path, hasRows));
}

export const routeChange = defineMeasurement({
  title: 'the first visit to each screen from another one, with 1,500 tokens, members and mails',
  limitSeconds: 600,
  values: {
    route_change_vs_bar: {
      bar: { max: 1 },
      note: `from a press on a link to the painted heading, the slowest screen / ${MAX_MS} ms`,
    },
    rows_vs_bar: {
      bar: { max: 1 },
      note: `from a press on a link to the painted rows, the slowest list / ${ROWS_MAX_MS} ms`,
    },
  },
  async run(fixture) {
    const { open } = await fixture.share(startConsole);
    const measured = screens.map((screen) => ({ ...screen, headings: [] as number[], rows: [] as number[] }));
    for (let time = 0; time < TIMES; time += 1)
      for (const { path, from, hasRows, headings, rows } of measured) {
        const page = await open(from ?? '/account');
        if (from !== undefined) await page.locator('main tbody tr').first().waitFor();
        const took = await change(page, path, hasRows);
        headings.push(took.heading);
        if (took.rows !== undefined) rows.push(took.rows);
        await page.context().close();
      }
    for (const { path, headings, rows } of measured)
      fixture.progress(`${path}: ${Math.round(median(headings))} ms, rows ${Math.round(median(rows))} ms`);
    return {
      route_change_vs_bar: Math.max(...measured.map(({ headings }) => median(headings))) / MAX_MS,
      rows_vs_bar:
        Math.max(...measured.filter(({ hasRows }) => hasRows).map(({ rows }) => median(rows))) / ROWS_MAX_MS,
    };
  },
});
