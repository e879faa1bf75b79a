import { relative } from 'node:path';

const COUNT = 20;

/** Prints the slowest test files of a whole run, with their seconds: a slow test is a fault to mend. */
export default class SlowestReporter {
  onRunComplete(contexts, { testResults }) {
    const [{ config }] = contexts;
    const files = testResults.map(({ testFilePath, perfStats }) => ({
      path: relative(config.rootDir, testFilePath),
      seconds: (perfStats.end - perfStats.start) / 1_000,
    }));
    const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, COUNT);
    const lines = slowest.map(({ path, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${path}`);
    process.stderr.write(`\nThe slowest ${lines.length} of ${files.length} files:\n${lines.join('\n')}\n`);
  }
}
