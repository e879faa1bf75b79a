import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import TestSequencer from '@jest/test-sequencer';

/** The approximate durations of the longer test files, in seconds; UPDATE_DURATIONS=1 renews those of a run. */
const SECONDS = JSON.parse(readFileSync(new URL('durations.json', import.meta.url), 'utf8'));

/**
 * Starts the longest test files first, so that no worker is left alone with one at the end, even in a fresh clone,
 * where Jest has no durations of its own. Files that are not in the list keep Jest's order.
 */
export default class DurationSequencer extends TestSequencer {
  sort(tests) {
    const getSeconds = ({ path, context }) => SECONDS[relative(context.config.rootDir, path)] ?? 0;
    // oxlint-disable-next-line unicorn/no-array-sort -- Jest's own order, not that of an array
    return super.sort(tests).toSorted((a, b) => getSeconds(b) - getSeconds(a));
  }
}
