import { chromium } from 'playwright-core';
import type { Fixture } from '../../runner/fixture.js';
import { defineMeasurement, median, type Suite } from '../../runner/measurement.js';
import { measurePaints } from './paints.js';
import { startPlatform } from './platform.js';
import { measureRouteChanges } from './route-changes.js';
import { signIn } from './session.js';

const BROWSER = process.env['CHROMIUM'] ?? '/usr/bin/chromium-headless-shell';
/** The bars of UI-7, in milliseconds. */
const MAX_PAINT_MS = 500;
const MAX_ROUTE_CHANGE_MS = 100;

async function startBrowser(fixture: Fixture) {
  const platform = fixture.keep(await startPlatform(fixture.folder));
  const args = ['--no-sandbox', '--disable-dev-shm-usage'];
  const browser = await chromium.launch({ executablePath: BROWSER, args });
  fixture.keep({ stop: () => browser.close() });
  return { url: platform.url, browser, session: await signIn(browser, platform.url) };
}

const paint = defineMeasurement({
  title: 'the first paint of each screen',
  limitSeconds: 180,
  values: {
    paint_vs_bar: {
      bar: { max: 1 },
      note: `largest contentful paint of the slowest screen, nothing cached / ${MAX_PAINT_MS} ms`,
    },
  },
  async run(fixture) {
    const tookMs = await measurePaints(await fixture.share(startBrowser));
    return { paint_vs_bar: Math.max(...tookMs.map(median)) / MAX_PAINT_MS };
  },
});

const routeChange = defineMeasurement({
  title: 'changes from one screen to another',
  limitSeconds: 120,
  values: {
    route_change_vs_bar: {
      bar: { max: 1 },
      note: `from a press on a link to the painted heading, slowest screen / ${MAX_ROUTE_CHANGE_MS} ms`,
    },
  },
  async run(fixture) {
    const tookMs = await measureRouteChanges(await fixture.share(startBrowser));
    return { route_change_vs_bar: Math.max(...tookMs.map(median)) / MAX_ROUTE_CHANGE_MS };
  },
});

export const consoleSuite: Suite = {
  name: 'console',
  title: 'the web console in a real Chromium, on a loopback',
  isPinned: false,
  measurements: [paint, routeChange],
};
