import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { coreCount } from './cores.js';
import { describeBar, isReached, type Suite } from './measurement.js';
import type { MeasuredValue } from './run-suite.js';

/** The results of a suite, as they are committed. */
export interface Results {
  readonly machine: object;
  readonly values: Readonly<Record<string, number>>;
}

const round = (value: number): number => Number(value.toPrecision(4));

/** Describes the machine without identifying it. */
const describeMachine = () => ({
  cores: coreCount,
  cpu: cpus()[0]?.model ?? 'unknown',
  memoryGib: Math.round(totalmem() / 2 ** 30),
  node: process.version,
  platform: `${process.platform} ${process.arch}`,
});

/** Formats values as a table for the terminal. */
export function formatValues(values: readonly MeasuredValue[]): string {
  const lines = values.map(({ name, value, unit = '', bar, note }) => [
    name,
    `${round(value)} ${unit}`,
    bar ? `${describeBar(bar)} ${isReached(value, bar) ? '✔' : '✘'}` : '',
    note,
  ]);
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

export async function readResults(folder: string, { name }: Suite): Promise<Results | undefined> {
  const text = await readFile(join(folder, `${name}.json`), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Results);
}

/** Replaces the values in `<suite>.json`. Values that were not measured keep their last figure. */
export async function writeResults(
  folder: string,
  suite: Suite,
  values: readonly MeasuredValue[],
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const last = (await readResults(folder, suite))?.values ?? {};
  const known = values.filter(({ value }) => !Number.isNaN(value));
  const measured = Object.fromEntries(known.map(({ name, value }) => [name, value]));
  const names = suite.measurements.flatMap((measurement) => Object.keys(measurement.values));
  const all = names.map((name) => [name, measured[name] ?? last[name]] as const);
  const rounded = all.flatMap(([name, value]) => (value === undefined ? [] : [[name, round(value)]]));
  const results: Results = { machine: describeMachine(), values: Object.fromEntries(rounded) };
  await writeFile(join(folder, `${suite.name}.json`), `${JSON.stringify(results, null, 2)}\n`);
}

/** Formats a Markdown table of all values of a suite, with their bars and last figures. */
export function formatTable(suite: Suite, results: Results | undefined): string {
  const values = suite.measurements.flatMap((measurement) => Object.entries(measurement.values));
  const rows = values.map(([name, { unit, bar, note }]) => [
    `\`${name}\``,
    note,
    bar ? describeBar(bar) : '',
    formatFigure(results?.values[name], unit),
  ]);
  return alignTable([['Value', 'What', 'Bar', 'Last figure'], ...rows]);
}

/** Formats a Markdown table of some values of a suite, in the order of their names, for readers who look for a service. */
export function formatFigures(suite: Suite, results: Results | undefined, names: readonly string[]): string {
  const values = new Map(suite.measurements.flatMap((measurement) => Object.entries(measurement.values)));
  const rows = names.map((name) => [
    values.get(name)?.note ?? '',
    formatFigure(results?.values[name], values.get(name)?.unit),
  ]);
  return alignTable([['Measured', 'Figure'], ...rows]);
}

const formatFigure = (value: number | undefined, unit = ''): string =>
  value === undefined ? '' : `${value.toLocaleString('en', { maximumSignificantDigits: 4 })} ${unit}`.trim();

function alignTable(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  const [head = '', ...body] = lines.map(
    (line) => `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`,
  );
  return [head, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...body].join('\n');
}
