/** One measured number. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** A short description for the table. */
  readonly note: string;
}

/** The quotient of two figures of one run, which is comparable between machines. */
export interface Ratio {
  readonly name: string;
  readonly value: number;
  /** The bar to reach. A ratio without one is shown for comparison only. */
  readonly goal?: { readonly min: number } | { readonly max: number };
  readonly note: string;
}

/** The results of one or more parts. */
export interface SuiteResult {
  readonly figures: readonly Figure[];
  readonly ratios: readonly Ratio[];
}

export interface SuiteOptions {
  /** The parts to measure. Empty: all of them. */
  readonly only: ReadonlySet<string>;
  /** The duration of each load, in seconds. */
  readonly seconds: number;
  readonly progress: (line: string) => void;
}

export interface Suite {
  readonly name: string;
  readonly title: string;
  /** The names that `--only` accepts. */
  readonly parts: readonly string[];
  /** All processes share all cores, instead of the server having one of its own. */
  readonly isUnpinned?: true;
  /** Yields the results of each part as soon as they are measured, so that a later failure loses nothing. */
  run(options: SuiteOptions): AsyncIterable<SuiteResult>;
}

export const isReached = ({ value, goal }: Ratio): boolean =>
  goal === undefined || ('min' in goal ? value >= goal.min : value <= goal.max);

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
