import { setTimeout as delay } from 'node:timers/promises';
import { openFixture } from './fixture.js';
import type { Measurement, Suite, ValueDescription } from './measurement.js';

export interface MeasuredValue extends ValueDescription {
  readonly name: string;
  readonly value: number;
}

export interface RunOptions {
  /** The values to measure. Empty: all but the long measurements. */
  readonly only: ReadonlySet<string>;
  /** The duration of each load, in seconds. */
  readonly seconds: number;
  /** Whether the measurements have their largest size. */
  readonly isFull?: boolean;
  /** Multiplies the time limits, for longer loads. */
  readonly patience: number;
  progress(line: string): void;
  /** Called after each measurement, so that a later failure loses nothing. */
  onMeasured(values: readonly MeasuredValue[]): Promise<void>;
}

const isWanted = ({ values, isLong }: Measurement, only: ReadonlySet<string>): boolean =>
  only.size === 0 ? !isLong : Object.keys(values).some((name) => only.has(name));

/** Rejects after the time limit. */
async function expire(title: string, seconds: number, signal: AbortSignal): Promise<never> {
  await delay(seconds * 1_000, undefined, { signal });
  throw new Error(`${title}: not finished within ${seconds} s`);
}

/** Runs the measurements one after the other. A failing or hanging one does not stop the next. @returns the failures. */
export async function runSuite(suite: Suite, options: RunOptions): Promise<unknown[]> {
  const { only, seconds, isFull = false, progress } = options;
  const failures: unknown[] = [];
  const fixture = await openFixture();
  for (const measurement of suite.measurements.filter((each) => isWanted(each, only))) {
    const { title, values, limitSeconds } = measurement;
    const limit = new AbortController();
    const startedAt = performance.now();
    const elapsed = () => `${((performance.now() - startedAt) / 1_000).toFixed(0)} s`;
    progress(`${title} (at most ${limitSeconds * options.patience} s)`);
    const own = {
      seconds,
      isFull,
      isNamed: only.size > 0,
      postgresSettings: suite.postgresSettings ?? {},
      progress: (line: string) => progress(`  ${line}`),
    };
    try {
      const expired = expire(title, limitSeconds * options.patience, limit.signal);
      const measured = await fixture.run(own, (each) => Promise.race([measurement.run(each), expired]));
      const toValue = ([name, description]: [string, ValueDescription]) => ({
        ...description,
        name,
        value: measured[name] ?? Number.NaN,
      });
      await options.onMeasured(Object.entries(values).map(toValue));
      progress(`  done after ${elapsed()}`);
    } catch (error) {
      failures.push(error);
      progress(`  failed after ${elapsed()}`);
    } finally {
      limit.abort();
    }
  }
  await fixture.stop();
  return failures;
}
