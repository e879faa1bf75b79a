import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { EmbeddedServerError } from '@platform/embedded';
import { compareWithCommit, ComparisonError, formatComparison } from './runner/against.js';
import { isReached } from './runner/measurement.js';
import { formatValues, writeResults } from './runner/report.js';
import { type MeasuredValue, runSuite } from './runner/run-suite.js';
import { canPin, pinThisProcess } from './runner/cores.js';
import { suites } from './suites.js';

const DEFAULT_SECONDS = 5;
const DEFAULT_ROUNDS = 3;
/** The largest sizes have ten times as many rows. */
const FULL_PATIENCE = 10;

const describeSuite = ({ name, title, measurements }: (typeof suites)[number]): string =>
  [
    `  ${name.padEnd(8)}${title}`,
    ...measurements.map(({ title: what, values, isLong }) => {
      const names = Object.keys(values).filter((value) => values[value]?.bar);
      return `          ${what}${isLong ? ' (only when named)' : ''}: ${(names.length > 0 ? names : Object.keys(values)).join(', ')}`;
    }),
  ].join('\n');

const usage = `npm run bench -- <suite> [options]

Suites, and the names that --only takes
${suites.map(describeSuite).join('\n')}

Options
  --only <name>     measure what yields this value (may be repeated); the results are then shown, not written
  --seconds <n>     seconds of each load, 1 to 60 (default ${DEFAULT_SECONDS})
  --out <folder>    where <suite>.json goes (default packages/bench/results)
  --full            with the largest sizes: takes up to an hour, and 30 GB of disk (scale)
  --against <commit>  run the suite in turn with that commit, which is built in a temporary folder, and print the
                    ratios of the two; the results are not written
  --rounds <n>      how often each of the two runs, 1 to 20 (default ${DEFAULT_ROUNDS})
  -h, --help        this text

The server has one core to itself, the load and the backing services share the other (crawl,
console: all share both); ratios are of one run. Stop other work on the machine first.
`;

const options = {
  only: { type: 'string', multiple: true, default: [] as string[] },
  seconds: { type: 'string', default: String(DEFAULT_SECONDS) },
  out: { type: 'string', default: fileURLToPath(new URL('../results', import.meta.url)) },
  full: { type: 'boolean', default: false },
  against: { type: 'string' },
  rounds: { type: 'string', default: String(DEFAULT_ROUNDS) },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

function fail(message: string): never {
  process.stderr.write(`${message}\n\n${usage}`);
  process.exit(2);
}

function readCount(name: 'seconds' | 'rounds', text: string, max: number): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > max)
    fail(`--${name} takes a whole number from 1 to ${max}`);
  return count;
}

function readArguments() {
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

/** A missing server is one line that says what to do; a fault of the benchmark itself shows its stack. */
function describeFailure(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure);
  if (failure instanceof EmbeddedServerError || failure instanceof ComparisonError) return failure.message;
  return failure.stack ?? failure.message;
}

async function main(): Promise<void> {
  const { values, positionals } = readArguments();
  if (values.help || positionals.length === 0) {
    process.stdout.write(usage);
    return;
  }
  const suite =
    suites.find(({ name }) => name === positionals[0]) ?? fail(`there is no suite ${positionals[0]}`);
  const seconds = readCount('seconds', values.seconds, 60);
  const rounds = readCount('rounds', values.rounds, 20);
  const names = suite.measurements.flatMap((measurement) => Object.keys(measurement.values));
  const unknown = values.only.find((name) => !names.includes(name));
  if (unknown !== undefined) fail(`${suite.name} has no value ${unknown}: ${names.join(', ')}`);
  const startedAt = Date.now();
  const progress = (line: string) =>
    process.stderr.write(`${String(Math.round((Date.now() - startedAt) / 1_000)).padStart(4)} s  ${line}\n`);
  if (values.against !== undefined) {
    const { against: commit, only, full } = values;
    const args = [suite.name, '--seconds', String(seconds), ...only.flatMap((name) => ['--only', name])];
    if (full) args.push('--full');
    const root = fileURLToPath(new URL('../../..', import.meta.url));
    const compared = await compareWithCommit({ root, commit, rounds, args, progress });
    process.stdout.write(`${formatComparison(compared, commit)}\n`);
    return;
  }
  if (suite.isPinned && !canPin())
    process.stderr.write('Processes cannot be pinned to cores on this machine, so the ratios are rough.\n');
  if (suite.isPinned) pinThisProcess();
  const measured: MeasuredValue[] = [];
  const failures = await runSuite(suite, {
    only: new Set(values.only),
    seconds,
    isFull: values.full,
    patience: Math.max(1, seconds / DEFAULT_SECONDS) * (values.full ? FULL_PATIENCE : 1),
    progress,
    async onMeasured(more) {
      measured.push(...more);
      process.stdout.write(`${formatValues(more)}\n`);
      if (values.only.length === 0) await writeResults(values.out, suite, more);
    },
  });
  const missed = measured.filter(({ value, bar }) => !isReached(value, bar)).map(({ name }) => name);
  if (missed.length > 0) process.stdout.write(`\nmissed: ${missed.join(', ')}\n`);
  if (values.only.length === 0 && measured.length > 0)
    process.stdout.write(`\nwritten: ${values.out}/${suite.name}.json\n`);
  for (const failure of failures)
    process.stderr.write(`\n${suite.name} failed: ${describeFailure(failure)}\n`);
  // A measurement that took too long may still hold connections.
  process.exit(failures.length > 0 ? 1 : 0);
}

await main().catch((error: unknown) => {
  process.stderr.write(`${describeFailure(error)}\n`);
  process.exitCode = 1;
});
