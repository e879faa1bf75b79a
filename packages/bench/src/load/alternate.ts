import type { Fixture } from '../runner/fixture.js';
import { median } from '../runner/measurement.js';

/** Runs one load for so many seconds. @returns its rate. */
type Load = (seconds: number) => Promise<number>;

interface Rounds {
  readonly rounds: number;
  /** The share of `--seconds` that each turn takes. Default: all of it. */
  readonly share?: number;
  /** The warm-up of each load, until V8 has compiled the hot code. */
  readonly warmUpSeconds: number;
}

/**
 * Runs the loads in turn, and repeats that for several rounds: a slow phase of the machine then affects all of them. Many
 * short turns even out its noise better than a few long ones.
 *
 * @returns the median rate of each load, and the median of the ratio of two loads over the rounds.
 */
export async function alternate<Name extends string>(
  { seconds, progress }: Fixture,
  { rounds, share = 1, warmUpSeconds }: Rounds,
  loads: Readonly<Record<Name, Load>>,
) {
  const names = Object.keys(loads) as Name[];
  const rates = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
  for (let round = 0; round <= rounds; round += 1) {
    progress(round === 0 ? 'warming up' : `round ${round} of ${rounds}`);
    for (const name of names) {
      const rate = await loads[name](round === 0 ? warmUpSeconds : seconds * share);
      if (round > 0) rates[name].push(rate);
    }
  }
  return {
    rate: (name: Name): number => median(rates[name]),
    ratio: (name: Name, base: Name): number =>
      median(rates[name].map((rate, round) => rate / (rates[base][round] ?? Number.NaN))),
  };
}
