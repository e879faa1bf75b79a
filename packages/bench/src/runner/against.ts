import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { median } from './measurement.js';

/*
 * Compares this checkout with an earlier commit on the same machine within the same hour. Each side runs its own
 * benchmark program, so that the earlier one needs to know nothing of today's services and schemas.
 */

const execute = promisify(execFile);
const BENCH = 'packages/bench/dist/main.js';
/** A line of the printed table begins with the name of the value and its figure. */
const valueLine = /^(\w+) +(-?\d[\d.]*(?:e[+-]?\d+)?)\b/;

export interface Comparison {
  /** The root of this checkout, which is built. */
  readonly root: string;
  readonly commit: string;
  /** How often each side runs. */
  readonly rounds: number;
  /** The arguments of the benchmark: the suite and its options. */
  readonly args: readonly string[];
  progress(line: string): void;
}

export interface ComparedValue {
  readonly name: string;
  /** The medians of the rounds. */
  readonly earlier: number;
  readonly now: number;
  /** The median of the ratios of the rounds: now / earlier. */
  readonly ratio: number;
}

/** A fault to show as it is, without a stack. */
export class ComparisonError extends Error {}

/** Runs Node in a checkout; what it writes to stderr, such as its progress, is shown. @returns what it wrote to stdout. */
function runNode(root: string, args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve(output);
      else
        reject(new ComparisonError(`${args.join(' ')} in ${root} ended with ${signal ?? code}:\n${output}`));
    });
  });
}

function parseValues(output: string): Map<string, number> {
  const matches = output.split('\n').map((line) => valueLine.exec(line));
  return new Map(matches.flatMap((match) => (match ? [[match[1] ?? '', Number(match[2])]] : [])));
}

type Round = readonly [earlier: ReadonlyMap<string, number>, now: ReadonlyMap<string, number>];

/** Values that only one of the two sides knows are left out. */
function compare(rounds: readonly Round[]): ComparedValue[] {
  const names = [...(rounds[0]?.[1].keys() ?? [])];
  return names.flatMap((name) => {
    const pairs = rounds.map(([earlier, now]) => [
      earlier.get(name) ?? Number.NaN,
      now.get(name) ?? Number.NaN,
    ]);
    if (pairs.flat().some(Number.isNaN)) return [];
    const column = (index: 0 | 1) => median(pairs.map((pair) => pair[index] ?? Number.NaN));
    const ratio = median(pairs.map(([earlier = Number.NaN, now = Number.NaN]) => now / earlier));
    return [{ name, earlier: column(0), now: column(1), ratio }];
  });
}

/**
 * Checks the commit out into a temporary folder, builds it there, and runs the benchmark of both checkouts in turn.
 *
 * @throws ComparisonError when the commit is unknown, cannot be built, or one of the runs fails.
 */
export async function compareWithCommit({
  root,
  commit,
  rounds,
  args,
  progress,
}: Comparison): Promise<ComparedValue[]> {
  const git = (...command: string[]) => execute('git', ['-C', root, ...command]);
  const { stdout } = await git('rev-parse', '--verify', '--end-of-options', `${commit}^{commit}`).catch(
    () => {
      throw new ComparisonError(`there is no commit ${commit} in ${root}`);
    },
  );
  const folder = await mkdtemp(join(tmpdir(), 'platform-bench-against-'));
  const checkout = join(folder, 'checkout');
  // The signal reaches the children too: the run fails, and the checkout is removed.
  const ignore = () => undefined;
  process.on('SIGINT', ignore);
  try {
    progress(`building ${commit} in ${checkout}`);
    await git('worktree', 'add', '--detach', checkout, stdout.trim());
    await runNode(checkout, ['packages/config/run.mjs', 'build']);
    const results: Round[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      progress(`round ${round} of ${rounds}: ${commit}`);
      const earlier = parseValues(await runNode(checkout, [BENCH, ...args, '--out', folder]));
      progress(`round ${round} of ${rounds}: this checkout`);
      const now = parseValues(await runNode(root, [BENCH, ...args, '--out', folder]));
      results.push([earlier, now]);
    }
    return compare(results);
  } finally {
    await git('worktree', 'remove', '--force', checkout).catch(ignore);
    await rm(folder, { recursive: true, force: true });
    process.off('SIGINT', ignore);
  }
}

/** Formats the comparison as a table for the terminal. */
export function formatComparison(values: readonly ComparedValue[], commit: string): string {
  const toText = (value: number) => String(Number(value.toPrecision(4)));
  const lines = [
    ['', commit, 'now', 'now / then'],
    ...values.map(({ name, earlier, now, ratio }) => [name, ...[earlier, now, ratio].map(toText)]),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
