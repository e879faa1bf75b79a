// Sums the results of the whole run, of what was run again and of the bare run. Names what failed, was skipped, or passed
// only the second time, and ends with the line `N passed, N failed`.
// Usage: node .ci/sum-results.mjs <results of the whole run> <results of its second tries> <results of the bare run>
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const [first, again, bare] = process.argv.slice(2).map(readFiles);

/** @returns the results of each test file; none when the tests did not even start. */
function readFiles(file) {
  const text = readFileSync(file, 'utf8');
  return text ? JSON.parse(text).testResults : [];
}

const testsOf = (files) => files.flatMap(({ assertionResults }) => assertionResults);
const withStatus = (files, ...statuses) => testsOf(files).filter(({ status }) => statuses.includes(status));

const repeated = new Set(again.map(({ name }) => name));
const whole = [...first.filter(({ name }) => !repeated.has(name)), ...again];

// A file that can't be loaded has failed without any test of its own.
const broken = [...whole, ...bare].filter(
  ({ status, assertionResults }) =>
    status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
);
// The whole run has everything; the bare one may lack Java alone: a Redis can be had on every machine.
const mayBeSkipped = ({ ancestorTitles }) =>
  ancestorTitles.find((title) => title.includes('[needs '))?.endsWith('kafka]') ?? false;
const ran = ['passed', 'failed'];
const skipped = [...testsOf(whole), ...testsOf(bare).filter((test) => !mayBeSkipped(test))].filter(
  ({ status }) => !ran.includes(status),
);
const passed = withStatus([...whole, ...bare], 'passed');
const failed = withStatus([...whole, ...bare], 'failed');
const unstarted = [first, bare].filter((files) => files.length === 0);

for (const { name } of again.filter(({ status }) => status === 'passed'))
  console.log(`flaky, passed only when it ran again alone: ${relative('.', name)}`);
for (const { fullName } of failed) console.log(`failed: ${fullName}`);
for (const { name } of broken) console.log(`did not run: ${relative('.', name)}`);
for (const { fullName } of skipped) console.log(`skipped, counted as failed here: ${fullName}`);

const failures = failed.length + broken.length + skipped.length + unstarted.length;
console.log(`${passed.length} passed, ${failures} failed`);
process.exitCode = failures > 0 ? 1 : 0;
