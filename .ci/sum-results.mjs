// Sums the results of the whole run and of the bare run, and ends with the line `N passed, N failed`.
// Usage: node .ci/sum-results.mjs <results of the whole run> <results of the bare run>
import { readFileSync } from 'node:fs';

const [whole, bare] = process.argv.slice(2).map(read);

/** No results: the tests did not even start, and that is a failure too. */
function read(file) {
  const text = readFileSync(file, 'utf8');
  return text ? JSON.parse(text) : { numPassedTests: 0, numFailedTests: 1, testResults: [] };
}

const skippedIn = ({ testResults }) =>
  testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status !== 'passed' && status !== 'failed');

// The whole run has everything; the bare one may lack Java alone: a Redis can be had on every machine.
const mayBeSkipped = ({ ancestorTitles }) =>
  ancestorTitles.find((title) => title.includes('[needs '))?.endsWith('kafka]') ?? false;
const skipped = [...skippedIn(whole), ...skippedIn(bare).filter((test) => !mayBeSkipped(test))];
for (const { fullName } of skipped) console.log(`skipped, counted as failed here: ${fullName}`);

const sum = (name) => (whole[name] ?? 0) + (bare[name] ?? 0);
const failed = sum('numFailedTests') + sum('numRuntimeErrorTestSuites') + skipped.length;
console.log(`${sum('numPassedTests')} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
