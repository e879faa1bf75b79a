import { DAY_MS } from '@platform/service-kit';
import { parseCron, splitDays } from './parse-cron.js';
import type { RecurringConfig } from './schedule-config.js';
import { toInstant, offsetAt } from './time-zone.js';

/*
 * Calculates the times of a cron expression. Pure: it reads no clock.
 *
 * The parser is BullMQ's default, so its dialect of cron applies: five fields, names, lists,
 * ranges, steps, `L` (last day, or last such weekday), `#`. When both the day of the month and the day of the week are
 * given, either may match, as in cron; if one of them starts with `*`, such as a step, both have to.
 *
 * When clocks are set back, a fixed time runs once, at its first occurrence, and an hourly time runs in every hour
 * that passes. When clocks are set forward, a skipped time runs as long after the change as it lay inside the gap.
 * The parser does so itself, except for gaps at midnight (Santiago, Beirut), where it drops the day: see
 * `skippedTime`.
 */

/** Returns the cron expression of a schedule configuration. */
export function toCron(config: RecurringConfig): string {
  if (config.scheduleType === 'custom') return config.cronExpression;
  const { minute } = config;
  if (config.scheduleType === 'hourly')
    return `${minute} ${config.interval === 1 ? '*' : `*/${config.interval}`} * * *`;
  const { hour } = config;
  if (config.scheduleType === 'daily') return `${minute} ${hour} * * *`;
  if (config.scheduleType === 'monthly') return `${minute} ${hour} ${config.dayOfMonth} * *`;
  return `${minute} ${hour} * * ${[...new Set(config.daysOfWeek)].toSorted((a, b) => a - b).join(',')}`;
}

/** The times of a cron expression. */
export interface CronRecurrence {
  readonly cron: string;
  readonly timezone: string;
  /** The jitter, fixed for the schedule: every time is later by this many milliseconds. */
  readonly offsetMs: number;
}

/** No zone sets its clocks forward by more than this at once. */
const MAX_GAP_MS = 3 * 3_600_000;
const MAX_WALL_TIMES = 1_000;
/** Longer than within what a schedule has to fire. */
const MAX_SEARCH_MS = 6 * 366 * DAY_MS;

/** Returns the parser's next match; undefined for a date that never comes, such as 31 April. */
function nextMatch(cron: string, tz: string, after: number): number | undefined {
  try {
    // The zone is always in lower case, so that the parser's cache of zones is bounded.
    const options = { tz: tz.toLowerCase(), currentDate: new Date(after) };
    const split = splitDays(cron);
    if (!split) return parseCron(cron, options).next().getTime();
    const times = parseCron(split.times, options);
    const days = parseCron(split.days, options);
    for (let time = times.next(); time.getTime() < after + MAX_SEARCH_MS; time = times.next()) {
      if (days.includesDate(time)) return time.getTime();
      // Another time of the day does not match, either.
      time.setEndOfDay();
      times.reset(time);
    }
    return undefined;
  } catch {
    return undefined;
  }
}

/**
 * Finds a time that the zone's clocks skip, due between `after` and `before`, by matching the expression against wall
 * times.
 */
function skippedTime(cron: string, timezone: string, after: number, before: number): number | undefined {
  const offset = offsetAt(timezone, after);
  const isGapBehind = offsetAt(timezone, after - MAX_GAP_MS) < offset;
  let wall: number | undefined = after + offset - (isGapBehind ? MAX_GAP_MS : 0);
  for (let count = 0; count < MAX_WALL_TIMES; count += 1) {
    wall = nextMatch(cron, 'UTC', wall);
    if (wall === undefined) return undefined;
    const { at, isSkipped } = toInstant(timezone, wall);
    if (at >= before) return undefined;
    if (isSkipped && at > after) return at;
  }
  return undefined;
}

function findTime(cron: string, timezone: string, after: number): number | undefined {
  const match = nextMatch(cron, timezone, after);
  if (match === undefined || timezone === 'UTC') return match;
  return skippedTime(cron, timezone, after, match) ?? match;
}

/*
 * A search takes about 0.1 ms, and each change and each tick needs two or three. The result of one search is valid
 * for every later one up to that result, so the latest result of each expression and zone is kept, for the thousand
 * that were used last.
 */
const MAX_CACHED_TIMES = 1_000;
const knownTimes = new Map<string, { readonly after: number; readonly time: number }>();

const toKey = (cron: string, timezone: string): string => `${timezone} ${cron}`;

function findKnownTime(key: string, after: number): number | undefined {
  const known = knownTimes.get(key);
  return known && known.after <= after && after < known.time ? known.time : undefined;
}

function keepKnownTime(key: string, after: number, time: number): void {
  knownTimes.delete(key);
  knownTimes.set(key, { after, time });
  if (knownTimes.size > MAX_CACHED_TIMES)
    for (const oldest of knownTimes.keys()) return void knownTimes.delete(oldest);
}

/** Returns whether the result of {@link nextCronTime} is cached, which implies that the expression is valid. */
export const isTimeCached = ({ cron, timezone, offsetMs }: CronRecurrence, after: number): boolean =>
  findKnownTime(toKey(cron, timezone), after - offsetMs) !== undefined;

/** @returns the first time after `after`, epoch ms; undefined when there is none. */
export function nextCronTime(
  { cron, timezone, offsetMs }: CronRecurrence,
  after: number,
): number | undefined {
  const from = after - offsetMs;
  const key = toKey(cron, timezone);
  let time = findKnownTime(key, from);
  if (time === undefined) {
    time = findTime(cron, timezone, from);
    if (time === undefined) return undefined;
    keepKnownTime(key, from, time);
  }
  return time + offsetMs;
}
