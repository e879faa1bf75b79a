import { DAY_MS } from '@platform/service-kit';
import moment from 'moment-timezone';

/*
 * When the clocks of a time zone change, as a table. moment-timezone brings a tz database; the service asks the runtime's
 * ICU. Where the two have different releases of the tz database, neither is wrong.
 */

/** From an instant on, the clocks of a zone are ahead of UTC by `offset`. Epoch ms and ms. */
export interface ClockChange {
  readonly at: number;
  readonly offset: number;
}
/** Ascending, and without an end. The first one has no beginning. */
export type ZoneRules = readonly ClockChange[];

export interface Period {
  readonly from: number;
  readonly to: number;
}

const MINUTE_MS = 60_000;

export const tzRelease = (): string => moment.tz.dataVersion;

/** @returns undefined for a zone that moment-timezone lacks. */
function readPublishedRules(zone: string): ZoneRules | undefined {
  const found = moment.tz.zone(zone);
  return found?.offsets.map((offset, index) => ({
    at: found.untils[index - 1] ?? Number.NEGATIVE_INFINITY,
    offset: -offset * MINUTE_MS,
  }));
}

function findClockChange(rules: ZoneRules, at: number): ClockChange {
  const found = rules.findLast((change) => change.at <= at);
  if (!found) throw new Error('The rules of a zone have a beginning');
  return found;
}

/** Returns how far the clocks of a zone are ahead of UTC, in ms, as the runtime shows them. */
function createRuntimeOffset(zone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  // Such as 2027-03-28 03:00:00.
  return (at) => Date.parse(`${format.format(at).replace(' ', 'T')}Z`) - at;
}

/** Shorter than the time between two changes of any zone: Morocco's clocks change for Ramadan. */
const PROBE_MS = 14 * DAY_MS;

/** Reads the rules that the runtime has in a period. */
function readRuntimeRules(zone: string, { from, to }: Period): ZoneRules {
  const offsetAt = createRuntimeOffset(zone);
  const rules: ClockChange[] = [{ at: Number.NEGATIVE_INFINITY, offset: offsetAt(from) }];
  for (let before = from; before < to; before += PROBE_MS) {
    let [low, high] = [before, before + PROBE_MS];
    const offset = offsetAt(high);
    if (offset === offsetAt(low)) continue;
    // Changes are at whole minutes.
    while (high - low > MINUTE_MS) {
      const middle = Math.floor((low + high) / 2 / MINUTE_MS) * MINUTE_MS;
      if (offsetAt(middle) === offset) high = middle;
      else low = middle;
    }
    rules.push({ at: high, offset });
  }
  return rules;
}

/** Returns the changes in a period, as text. */
const describeRules = (rules: ZoneRules, { from, to }: Period): string =>
  [
    findClockChange(rules, from).offset,
    ...rules.filter(({ at }) => at > from && at <= to).map(({ at, offset }) => `${at} ${offset}`),
  ].join(', ');

/**
 * Returns the rules of a zone in a period: those of moment-timezone, unless the runtime has another release of the tz
 * database that differs in them.
 */
export function findRules(
  zone: string,
  period: Period,
): { readonly rules: ZoneRules; readonly isPublished: boolean } {
  const published = readPublishedRules(zone);
  const ofRuntime = readRuntimeRules(zone, period);
  return published !== undefined && describeRules(published, period) === describeRules(ofRuntime, period)
    ? { rules: published, isPublished: true }
    : { rules: ofRuntime, isPublished: false };
}
