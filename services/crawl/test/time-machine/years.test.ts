import { DAY_MS } from '@platform/service-kit';
import { createRandom } from '@platform/testing';
import type { InstanceKey } from '../../src/domain/instance-key.js';
import { createPlan, nextRunAfter, type Plan } from '../../src/domain/plan.js';
import { timeZoneNames } from '../../src/domain/time-zone-names.js';
import { isTimeZone } from '../../src/domain/time-zone.js';
import { readScheduleBody } from '../../src/domain/validate-schedule.js';
import { listTimes, type ScheduleTimes } from './model.js';
import { createRandomSchedule } from './random-schedules.js';
import { findRules, type Period, tzRelease, type ZoneRules } from './zone-rules.js';

/*
 * Random schedules in all time zones, each for a year, against a second opinion. The number of a schedule is its seed:
 *
 *   SCHEDULES=50000 npm test -- time-machine/years         tries so many, instead of 2,000
 *   SCHEDULES=1234-1234 npm test -- time-machine/years     tries that one
 */
const [firstSeed, lastSeed] = readSeeds(process.env['SCHEDULES'] ?? '2000');

/** Leap years, and years without a 29 February; years whose rules are history, and years whose rules may still change. */
const years = [2024, 2025, 2027, 2028].map((year) => ({ from: Date.UTC(year), to: Date.UTC(year + 1) }));
/** The rules have to be known for all days that have an hour in one of the years, and for the longest jitter. */
const known = { from: Date.UTC(2023, 11), to: Date.UTC(2029, 1) };
/** Days of a year before the midnight that begins 29 February, or 1 March. */
const LEAP_DAY = 59;
/** Schedules with more times a day than this are only followed around it, and where clocks change. */
const MAX_TIMES_A_DAY = 2;

const zones = [...timeZoneNames].filter(isTimeZone);
const rules = new Map<string, ZoneRules>();
/** The zones for which the runtime has another release of the tz database. */
const otherwise = new Set<string>();
for (const zone of zones) {
  const found = findRules(zone, known);
  rules.set(zone, found.rules);
  if (!found.isPublished) otherwise.add(zone);
}

const getRules = (zone: string): ZoneRules => rules.get(zone) ?? [];

function readSeeds(text: string): readonly [first: number, last: number] {
  const [, first = '1', last] = /^(?:(\d+)-)?(\d+)$/.exec(text) ?? [];
  if (last === undefined) throw new Error(`SCHEDULES is a number, or a range such as 1200-1300, not ${text}`);
  return [Number(first), Number(last)];
}

const CALENDAR_YEARS = 5;
const utc: ZoneRules = [{ at: Number.NEGATIVE_INFINITY, offset: 0 }];

/** Returns the parts of a year in which a schedule is followed. */
function toPeriods(year: Period, times: ScheduleTimes, zone: string): readonly Period[] {
  const timesADay = times.kind === 'cron' ? times.hours.length * times.minutes.length : 0;
  if (timesADay <= MAX_TIMES_A_DAY) return [year];
  const aroundMs = (timesADay > 200 ? 0.2 : 1.5) * DAY_MS;
  const changes = getRules(zone).map(({ at }) => at);
  return [...changes, year.from + LEAP_DAY * DAY_MS]
    .filter((at) => at > year.from && at < year.to)
    .map((at) => ({ from: at - aroundMs, to: at + aroundMs }));
}

/** Asks the service for one time after the other, as its dispatcher does. */
function followPlan(plan: Plan, { from, to }: Period): number[] {
  const times: number[] = [];
  for (let at = nextRunAfter(plan, from); at !== undefined && at <= to; at = nextRunAfter(plan, at))
    times.push(at);
  return times;
}

const toText = (times: readonly number[]): string =>
  `${times.length}: ${times
    .slice(0, 3)
    .map((at) => new Date(at).toISOString())
    .join(', ')}`;

function compareTimes(expected: readonly number[], found: readonly number[]): string | undefined {
  if (expected.length === found.length && expected.every((at, index) => at === found[index]))
    return undefined;
  const missing = expected.filter((at) => !found.includes(at));
  const others = found.filter((at, index) => !expected.includes(at) || found.indexOf(at) !== index);
  return `missing ${toText(missing)}; doubled or at another time ${toText(others)}`;
}

/** Follows one schedule for a year. @returns what is wrong, if anything, and the number of its times. */
function tryASchedule(seed: number): { readonly fault?: string; readonly count: number } {
  const random = createRandom(seed);
  const year = years[seed % years.length] as Period;
  const zone = zones[seed % zones.length] as string;
  const { config, timezone, jitterMs, times } = createRandomSchedule(random, zone, year.from);
  const toFault = (text: string) => ({ count: 0, fault: `${seed} ${JSON.stringify(config)} ${text}` });
  const read = readScheduleBody({ scheduleConfig: config }, year.from);
  if ('faults' in read) {
    const expected = listTimes(times, utc, {
      from: year.from,
      to: year.from + CALENDAR_YEARS * 365 * DAY_MS,
    });
    return expected.length === 0 ? { count: 0 } : toFault(`is refused: ${JSON.stringify(read.faults)}`);
  }
  const key: InstanceKey = { orgId: `organisation ${seed}`, connector: 'files_1', instance: 'default' };
  const { scheduleConfig } = read.body;
  const plan = createPlan({ ...key, config: scheduleConfig, anchorAt: new Date(year.from) });
  const delay = findJitter(key, jitterMs);
  if (delay < 0 || delay > jitterMs) return toFault(`is later by ${delay} ms`);
  let count = 0;
  // An interval begins with the first of the delayed times.
  const delayed = times.kind === 'interval' ? { ...times, anchorAt: year.from - delay } : times;
  for (const { from, to } of toPeriods(year, times, timezone)) {
    const period = { from: from - delay, to: to - delay };
    const expected = listTimes(delayed, getRules(timezone), period).map((at) => at + delay);
    count += expected.length;
    const fault = compareTimes(expected, followPlan(plan, { from, to }));
    if (fault !== undefined) return toFault(fault);
  }
  return { count };
}

/** The jitter of a schedule is the same for each of its times, whatever its type. */
function findJitter(key: InstanceKey, jitterMs: number): number {
  const config = {
    scheduleType: 'once',
    scheduledTime: '1970-01-01T00:00:00Z',
    timezone: 'UTC',
    isEnabled: true,
    jitterMs,
    missedRunPolicy: 'run_once',
  } as const;
  const plan = createPlan({ ...key, config, anchorAt: new Date(0) });
  return plan.kind === 'once' ? plan.at : Number.NaN;
}

// CRAWL-96
it(`no run of ${lastSeed - firstSeed + 1} random schedules is missing, doubled or at another minute within a year`, () => {
  const faults: string[] = [];
  let total = 0;
  for (let seed = firstSeed; seed <= lastSeed && faults.length < 10; seed += 1) {
    const { fault, count } = tryASchedule(seed);
    total += count;
    if (fault !== undefined) faults.push(fault);
  }
  expect(faults).toEqual([]);
  expect(total).toBeGreaterThan(0);
});

/** Of about 600. Each release of the tz database changes a few, and their links. */
const MAX_OTHERWISE = 60;

it(`the runtime has the rules of release ${tzRelease()} of the tz database for nearly all zones`, () => {
  expect([...otherwise].slice(MAX_OTHERWISE)).toEqual([]);
});
