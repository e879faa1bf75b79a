import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { coreCount } from './cores.js';
import { plotRatios } from './plot.js';
import { isReached, type Ratio, type SuiteResult } from './suite.js';

const GIB = 2 ** 30;

/** Describes the machine without identifying it. */
const describeMachine = () => ({
  cores: coreCount,
  cpu: cpus()[0]?.model ?? 'unknown',
  memoryGib: Math.round(totalmem() / GIB),
  node: process.version,
  platform: `${process.platform} ${process.arch}`,
});

const round = (value: number): number => Number(value.toPrecision(4));
function toVerdict(ratio: Ratio): string {
  const { goal } = ratio;
  if (goal === undefined) return '';
  return `${'min' in goal ? `≥ ${goal.min}` : `≤ ${goal.max}`} ${isReached(ratio) ? '✔' : '✘'}`;
}

/** Formats the results as a table for the terminal. */
export function formatTable({ figures, ratios }: SuiteResult): string {
  const lines = [
    ...figures.map(({ name, value, unit, note }) => [name, `${round(value)} ${unit}`, '', note]),
    ...ratios.map((ratio) => [`[${ratio.name}]`, String(round(ratio.value)), toVerdict(ratio), ratio.note]),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  return lines
    .map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n');
}

/** Writes `<suite>.json` and `<suite>.svg` to the folder. */
export async function writeResults(folder: string, suite: string, result: SuiteResult): Promise<void> {
  await mkdir(folder, { recursive: true });
  const ratios = Object.fromEntries(result.ratios.map(({ name, value }) => [name, round(value)]));
  const figures = result.figures.map((figure) => ({ ...figure, value: round(figure.value) }));
  const json = { suite, machine: describeMachine(), ratios, figures };
  await writeFile(join(folder, `${suite}.json`), `${JSON.stringify(json, null, 2)}\n`);
  await writeFile(join(folder, `${suite}.svg`), plotRatios(suite, result.ratios));
}
