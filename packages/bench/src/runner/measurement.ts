import type { Fixture } from './fixture.js';

/** The limit that a value has to keep. */
export type Bar = { readonly min: number } | { readonly max: number };

/** Describes a value of a measurement. */
export interface ValueDescription {
  /** The unit. A ratio has none. */
  readonly unit?: string;
  readonly note: string;
  /** A value without a bar is shown for comparison only. */
  readonly bar?: Bar;
}

export interface Measurement<Name extends string = string> {
  /** Names what is measured, in the lines that show the progress. */
  readonly title: string;
  /** The time after which it fails, in seconds, with loads of the default time: three times what a quiet machine needs. */
  readonly limitSeconds: number;
  /** It is skipped unless one of its values is named with `--only`. */
  readonly isLong?: true;
  readonly values: Readonly<Record<Name, ValueDescription>>;
  /** Starts what is not running yet, and measures. The fixture stops everything. */
  run(fixture: Fixture): Promise<Readonly<Record<Name, number>>>;
}

/** Declares a measurement, whose `run` must return exactly the declared values. */
export const defineMeasurement = <Name extends string>(measurement: Measurement<Name>): Measurement =>
  measurement;

export interface Suite {
  readonly name: string;
  readonly title: string;
  /** The server has one core to itself. Otherwise all processes share all cores. */
  readonly isPinned: boolean;
  /** Settings of PostgreSQL beside those of every suite. */
  readonly postgresSettings?: Readonly<Record<string, string>>;
  readonly measurements: readonly Measurement[];
}

export const isReached = (value: number, bar: Bar | undefined): boolean =>
  bar === undefined || ('min' in bar ? value >= bar.min : value <= bar.max);

export const describeBar = (bar: Bar): string => ('min' in bar ? `≥ ${bar.min}` : `≤ ${bar.max}`);

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => percentile(values, 0.5);
