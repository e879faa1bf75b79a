import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import TestSequencer from '@jest/test-sequencer';

/** About how many seconds the longer test files take, by their path; UPDATE_DURATIONS=1 notes those of a run. */
const SECONDS = JSON.parse(readFileSync(new URL('durations.json', import.meta.url), 'utf8'));

/**
 * Starts the longest test files first, so that no worker is left alone with one of them at the end: also in a fresh
 * clone, where Jest itself has no times to go by. Among files that are not in the list, Jest's own order stays.
 */
export default class DurationSequencer extends TestSequencer {
  sort(tests) {
    const getSeconds = ({ path, context }) => SECONDS[relative(context.config.rootDir, path)] ?? 0;
    // oxlint-disable-next-line unicorn/no-array-sort -- Jest's own order, not that of an array
    return super.sort(tests).toSorted((a, b) => getSeconds(b) - getSeconds(a));
  }
}
