import type { Browser } from 'playwright-core';
import { findChromium } from './find-chromium.js';
import { assertDeclared } from './requirements/describe-with.js';

export type { Browser, Page } from 'playwright-core';

/** Starts a real Chromium for the tests of a file; close it in `afterAll`, or Jest hangs. */
export async function launchBrowser(): Promise<Browser> {
  assertDeclared('chromium');
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('there is no Chromium on the PATH');
  // Loaded lazily, because every test file imports this package and few need a browser.
  const { chromium } = await import('playwright-core');
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}
