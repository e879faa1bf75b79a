// Prints the test files that failed, one per line. Fails when they are too many to be run again: that is no coincidence.
// Usage: node .ci/failed-files.mjs <results of a run>
import { readFileSync } from 'node:fs';

const MAX_FILES = 5;

const { testResults } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const failed = testResults.filter(({ status }) => status === 'failed').map(({ name }) => name);
if (failed.length === 0 || failed.length > MAX_FILES) process.exit(1);
console.log(failed.join('\n'));
