import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { replaceGenerated } from '@platform/testing';
import { formatFigures, formatTable, readResults } from '../src/runner/report.js';
import { suites } from '../src/suites.js';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The values that say what a replica carries, by suite. */
const CARRIED: Readonly<Record<string, readonly string[]>> = {
  auth: ['bare', 'thousand', 'million', 'forged', 'verify_p99', 'resident'],
  mail: ['raw', 'service', 'large_mail', 'beside_large_p99', 'resident_mib'],
  crawl: ['schedules', 'runs_per_second', 'tick_to_event_p99_ms', 'restart_50k_seconds', 'resident'],
};

// oxfmt-ignore
test.each([
  ['the README has all values with their bars and last figures', here('../README.md'), suites, formatTable],
  ['the page about sizing has the last figures of what a replica carries', here('../../../docs/sizing.md'), suites.filter(({ name }) => CARRIED[name]),
    (suite: (typeof suites)[number], results: Parameters<typeof formatTable>[1]) => formatFigures(suite, results, CARRIED[suite.name] ?? [])],
] as const)('%s (UPDATE_RESULTS=1 renews it)', async (_title, path, shown, format) => {
  const expected = await Promise.all(shown.map(async (suite) => {
    const table = format(suite, await readResults(here('../results'), suite));
    return `**${suite.name}**: ${suite.title}\n\n${table}\n`;
  }));
  const renewed = replaceGenerated(readFileSync(path, 'utf8'), 'results', expected.join('\n'));
  if (process.env.UPDATE_RESULTS) writeFileSync(path, renewed);
  expect(readFileSync(path, 'utf8')).toBe(renewed);
});
