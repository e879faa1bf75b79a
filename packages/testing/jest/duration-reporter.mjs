import { readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';

const FILE = new URL('durations.json', import.meta.url);
/** Shorter files make no difference to the order. */
const SECONDS_MIN = 3;

/** With UPDATE_DURATIONS=1, stores how long the files of this run took, for the order of later ones. */
export default class DurationReporter {
  onRunComplete(contexts, { testResults }) {
    if (process.env.UPDATE_DURATIONS !== '1') return;
    const [{ config }] = contexts;
    const seconds = JSON.parse(readFileSync(FILE, 'utf8'));
    for (const { testFilePath, perfStats, skipped } of testResults) {
      const took = Math.round((perfStats.end - perfStats.start) / 1_000);
      if (!skipped) seconds[relative(config.rootDir, testFilePath)] = took;
    }
    const kept = Object.entries(seconds).filter(([, took]) => took >= SECONDS_MIN);
    kept.sort(([a], [b]) => a.localeCompare(b));
    writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`);
  }
}
