import { parseCron } from './parse-cron.js';
import type { RecurringConfig } from './schedule-config.js';
import { toInstant, offsetAt } from './time-zone.js';

/*
 * The times of a cron expression. Pure: no clock of its own.
 *
 * The parser is the one that BullMQ would use by itself, so its reading of cron counts: five
 * fields, names, lists, ranges, steps, `L` (last day, or last such weekday), `#`, and a match of
 * either when both the day of the month and of the week are given.
 *
 * Where clocks are set back, a fixed time runs once, the first time round, and a time in every hour
 * runs in every hour that passes. Where they are set forward, a time that they skip runs as long
 * after the change as it lay inside the gap. The parser does so by itself, but for gaps at midnight
 * (Santiago, Beirut), where it drops the day: see `skippedTime`.
 */

/** The cron expression of a schedule type. */
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
  /** Every time is moved later by this: jitter, fixed for the schedule. Milliseconds. */
  readonly offsetMs: number;
}

/** No zone sets its clocks forward by more at once. */
const MAX_GAP_MS = 3 * 3_600_000;
const MAX_WALL_TIMES = 1_000;

/** The parser's next match; undefined where it gives up on a date that never comes, such as 31 April. */
function nextMatch(cron: string, tz: string, after: number): number | undefined {
  try {
    // In one spelling: what the parser keeps of each zone can't be made to grow.
    return parseCron(cron, { tz: tz.toLowerCase(), currentDate: new Date(after) })
      .next()
      .getTime();
  } catch {
    return undefined;
  }
}

/** A time that the zone's clocks skip, due between `after` and `before`: the expression read by the wall clock. */
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
 * The search costs some 0.1 ms, and each change and each tick asks two or three times. The answer to
 * one question is that of every later one up to the answer itself, so the last of an expression and
 * zone is kept: of some thousand, the latest used.
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

/** Whether the answer to {@link nextCronTime} is at hand, which says that the expression can be read. */
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
