import { findProgram } from '@platform/embedded';

/** The smallest first: Debian's headless shell starts half again as fast as the whole browser. */
const PROGRAMS = ['chromium-headless-shell', 'chromium', 'google-chrome'];

/** Returns the path of a Chromium on this machine, or undefined when there is none. */
export function findChromium(): string | undefined {
  for (const program of PROGRAMS) {
    const path = findProgram(program);
    if (path !== undefined) return path;
  }
  return undefined;
}
