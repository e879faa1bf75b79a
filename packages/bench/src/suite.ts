/** One measured number. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What it is, in a few words, for the table. */
  readonly note: string;
}

/** A number that holds on any machine: two figures of one run, divided. */
export interface Ratio {
  readonly name: string;
  readonly value: number;
  /** What it must reach; none: it stands beside the others, to be read with them. */
  readonly goal?: { readonly min: number } | { readonly max: number };
  readonly note: string;
}

/** What one part has measured, or several together. */
export interface SuiteResult {
  readonly figures: readonly Figure[];
  readonly ratios: readonly Ratio[];
}

export interface SuiteOptions {
  /** Measure only what these ratios or figures need; empty: everything. */
  readonly only: ReadonlySet<string>;
  /** Seconds of each load. */
  readonly seconds: number;
  readonly progress: (line: string) => void;
}

export interface Suite {
  readonly name: string;
  readonly title: string;
  /** What `--only` takes. */
  readonly parts: readonly string[];
  /** The server has no core of its own: everything shares all of them. */
  readonly isUnpinned?: true;
  /** Yields what each part has measured as soon as it has, so that a later failure loses nothing. */
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
