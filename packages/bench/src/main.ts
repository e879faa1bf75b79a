import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { EmbeddedServerError } from '@platform/embedded';
import { collect } from './collect.js';
import { canPin, pinThisProcess } from './cores.js';
import { formatTable, writeResults } from './report.js';
import { isReached, type Suite } from './suite.js';
import { authSuite } from './suites/auth/index.js';
import { consoleSuite } from './suites/console/index.js';
import { crawlSuite } from './suites/crawl/index.js';
import { mailSuite } from './suites/mail/index.js';
import { mcpSuite } from './suites/mcp/index.js';

const suites: readonly Suite[] = [authSuite, mcpSuite, mailSuite, crawlSuite, consoleSuite];

const usage = `npm run bench -- <suite> [options]

Suites
${suites.map(({ name, title, parts }) => `  ${name.padEnd(8)}${title}\n          parts: ${parts.join(', ')}`).join('\n')}

Options
  --only <part>     measure one part (may be repeated); the results are then shown, not written
  --seconds <n>     seconds of each load, 1 to 60 (default 5)
  --out <folder>    where <suite>.json and <suite>.svg go (default packages/bench/results)
  -h, --help        this text

The server has a core of its own, the load and the backing services share the other (crawl,
console: all share both); ratios are of one run. Stop other work on the machine first.
`;

const options = {
  only: { type: 'string', multiple: true, default: [] as string[] },
  seconds: { type: 'string', default: '5' },
  out: { type: 'string', default: fileURLToPath(new URL('../results', import.meta.url)) },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

function fail(message: string): never {
  process.stderr.write(`${message}\n\n${usage}`);
  process.exit(2);
}

function readArguments() {
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

async function main(): Promise<void> {
  const { values, positionals } = readArguments();
  if (values.help || positionals.length === 0) {
    process.stdout.write(usage);
    return;
  }
  const suite =
    suites.find(({ name }) => name === positionals[0]) ?? fail(`there is no suite ${positionals[0]}`);
  const seconds = Number(values.seconds);
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > 60)
    fail('--seconds takes a whole number from 1 to 60');
  const unknown = values.only.find((part) => !suite.parts.includes(part));
  if (unknown !== undefined) fail(`${suite.name} has no part ${unknown}: ${suite.parts.join(', ')}`);
  if (!suite.isUnpinned && !canPin())
    process.stderr.write('Processes cannot be pinned to cores on this machine, so the ratios are rough.\n');
  if (!suite.isUnpinned) pinThisProcess();
  const startedAt = Date.now();
  const progress = (line: string) =>
    process.stderr.write(`${String(Math.round((Date.now() - startedAt) / 1_000)).padStart(4)} s  ${line}\n`);
  const { result, failure } = await collect(suite, { only: new Set(values.only), seconds, progress });
  if (result.figures.length + result.ratios.length > 0) process.stdout.write(`\n${formatTable(result)}\n`);
  const missed = result.ratios.filter((ratio) => !isReached(ratio)).map(({ name }) => name);
  if (missed.length > 0) process.stdout.write(`\nmissed: ${missed.join(', ')}\n`);
  if (values.only.length === 0 && result.ratios.length > 0) {
    await writeResults(values.out, suite.name, result);
    const extent = failure === undefined ? '' : ', without what was not measured';
    process.stdout.write(`\nwritten: ${values.out}/${suite.name}.json and .svg${extent}\n`);
  }
  if (failure === undefined) return;
  process.stderr.write(`\n${suite.name} failed: ${describeFailure(failure)}\n`);
  process.exitCode = 1;
}

/** A missing server is one line that says what to do; a fault of the benchmark itself shows its stack. */
function describeFailure(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure);
  if (failure instanceof EmbeddedServerError) return failure.message;
  return failure.stack ?? failure.message;
}

await main();
