import { type Browser, chromium } from 'playwright-core';
import { median, type Suite, type SuiteResult } from '../../suite.js';
import { measurePaints } from './paints.js';
import { startPlatform } from './platform.js';
import { measureRouteChanges } from './route-changes.js';
import { openSession } from './session.js';

const BROWSER = process.env['CHROMIUM'] ?? '/usr/bin/chromium-headless-shell';
/** The bars of UI-7, in milliseconds. */
const MAX_PAINT_MS = 500;
const MAX_ROUTE_CHANGE_MS = 100;

interface Measured {
  readonly name: string;
  readonly ms: readonly number[];
}

/** Returns a figure for each screen, and a ratio of the slowest one to its limit. */
function toResult(name: string, measured: readonly Measured[], maxMs: number, note: string): SuiteResult {
  const figures = measured.map(({ name: screen, ms }) => ({
    name: `${name}_${screen}`,
    value: median(ms),
    unit: 'ms',
    note: `median of ${ms.length}`,
  }));
  const slowest = Math.max(...figures.map(({ value }) => value));
  return { figures, ratios: [{ name: `${name}_vs_bar`, value: slowest / maxMs, goal: { max: 1 }, note }] };
}

const parts = {
  paint: async (browser: Browser, url: string) => {
    const note = `largest contentful paint of the slowest screen, nothing cached, against ${MAX_PAINT_MS} ms`;
    return toResult('paint', await measurePaints(browser, url), MAX_PAINT_MS, note);
  },
  route_change: async (browser: Browser, url: string) => {
    const note = `from a press on a link to the painted heading, slowest screen, against ${MAX_ROUTE_CHANGE_MS} ms`;
    return toResult('route_change', await measureRouteChanges(browser, url), MAX_ROUTE_CHANGE_MS, note);
  },
} as const;
type Part = keyof typeof parts;
const names = Object.keys(parts) as Part[];

export const consoleSuite: Suite = {
  name: 'console',
  title: 'the web console in a real Chromium, on a loopback',
  parts: names,
  isUnpinned: true,
  async *run({ only, progress }) {
    const platform = await startPlatform();
    try {
      const browser = await chromium.launch({
        executablePath: BROWSER,
        args: ['--no-sandbox', '--disable-dev-shm-usage'],
      });
      try {
        await openSession(browser, platform.url);
        for (const name of names.filter((part) => only.size === 0 || only.has(part))) {
          progress(name);
          yield await parts[name](browser, platform.url);
        }
      } finally {
        await browser.close();
      }
    } finally {
      await platform.stop();
    }
  },
};
