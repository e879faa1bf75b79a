// Sums the results of the parts of a run. Names what failed or was skipped, and ends with the line `N passed, N failed`.
// Usage: node .ci/sum-results.mjs <results of a part> …
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const parts = process.argv.slice(2).map((file) => {
  const text = readFileSync(file, 'utf8');
  return { file, files: text ? JSON.parse(text).testResults : [] };
});
const files = parts.flatMap((part) => part.files);
const tests = files.flatMap(({ name, assertionResults }) =>
  assertionResults.map(({ status, ancestorTitles, title }) => ({
    status,
    title: `${relative('.', name)}: ${[...ancestorTitles, title].join(' > ')}`,
  })),
);
const passed = tests.filter(({ status }) => status === 'passed');
const failures = [
  ...tests.filter(({ status }) => status === 'failed').map(({ title }) => `failed: ${title}`),
  // Nothing may be left out here: the machine has what the tests need.
  ...tests
    .filter(({ status }) => status !== 'passed' && status !== 'failed')
    .map(({ title }) => `skipped: ${title}`),
  // A file that can't be loaded has failed without running any test.
  ...files
    .filter(
      ({ status, assertionResults }) =>
        status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
    )
    .map(({ name }) => `did not run: ${relative('.', name)}`),
  ...parts.filter((part) => part.files.length === 0).map(({ file }) => `no test ran: ${file}`),
];
for (const failure of failures) console.log(failure);
console.log(`${passed.length} passed, ${failures.length} failed`);
process.exitCode = failures.length > 0 ? 1 : 0;
