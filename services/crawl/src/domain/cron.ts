import { DAY_MS } from '@platform/service-kit';
import { type CronTimes, parseCron } from './parse-cron.js';
import type { RecurringConfig } from './schedule-config.js';
import { offsetsAround, toInstants } from './time-zone.js';

/*
 * Calculates the times of a cron expression. Pure: it reads no clock.
 *
 * The times are found on the calendar, where no day has a gap, and then on the clocks of the zone. A time that they show
 * twice is its first occurrence, unless the expression names every hour: such a time runs in every hour that passes. A time
 * that they skip is as long after the change as it lay inside the gap.
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

const MINUTE_MS = 60_000;
const MINUTES_AN_HOUR = 60;
const HOURS_A_DAY = 24;
/** The calendar repeats itself after 28 years, or 40 where a leap year is left out: a later day never comes. */
const MAX_SEARCH_MS = 41 * 366 * DAY_MS;

/** @returns the first time of a day that is not before `from`, both in minutes after midnight. */
function findTimeOfDay({ hours, minutes }: CronTimes, from: number): number | undefined {
  const hour = Math.floor(from / MINUTES_AN_HOUR);
  const minute = minutes.find((value) => value >= from % MINUTES_AN_HOUR);
  if (minute !== undefined && hours.includes(hour)) return hour * MINUTES_AN_HOUR + minute;
  const next = hours.find((value) => value > hour);
  return next === undefined ? undefined : next * MINUTES_AN_HOUR + (minutes[0] ?? 0);
}

/** @returns the next wall time after `after`; undefined for a date that never comes, such as 31 April. */
function nextWallTime(times: CronTimes, after: number): number | undefined {
  const first = (Math.floor(after / MINUTE_MS) + 1) * MINUTE_MS;
  let midnight = Math.floor(first / DAY_MS) * DAY_MS;
  let from = (first - midnight) / MINUTE_MS;
  while (midnight < after + MAX_SEARCH_MS) {
    const date = new Date(midnight);
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
    const nextMonth = Date.UTC(year, month + 1);
    const hasMonth = times.months.has(month + 1);
    const day = {
      dayOfMonth: date.getUTCDate(),
      dayOfWeek: date.getUTCDay(),
      daysInMonth: (nextMonth - Date.UTC(year, month)) / DAY_MS,
    };
    const minute = hasMonth && times.isDay(day) ? findTimeOfDay(times, from) : undefined;
    if (minute !== undefined) return midnight + minute * MINUTE_MS;
    midnight = hasMonth ? midnight + DAY_MS : nextMonth;
    from = 0;
  }
  return undefined;
}

/**
 * Returns the first instant after `after`. Where the clocks change, a later wall time may come earlier: one after a gap
 * comes before one inside it. So the search goes on until what is left comes later, whatever the clocks do.
 */
function findTime(times: CronTimes, timezone: string, after: number): number | undefined {
  const isEveryHour = times.hours.length === HOURS_A_DAY;
  let found: number | undefined;
  let wall = nextWallTime(times, after + Math.min(...offsetsAround(timezone, after)));
  for (; wall !== undefined; wall = nextWallTime(times, wall)) {
    if (found !== undefined && wall - Math.max(...offsetsAround(timezone, wall)) >= found) break;
    const instants = toInstants(timezone, wall);
    const next = (isEveryHour ? instants : instants.slice(0, 1)).find((at) => at > after);
    if (next !== undefined) found = Math.min(found ?? next, next);
  }
  return found;
}

/** The times of a cron expression. */
export interface CronRecurrence {
  readonly cron: string;
  readonly timezone: string;
  /** The jitter, fixed for the schedule: every time is later by this many milliseconds. */
  readonly offsetMs: number;
}

/** @returns the first time after `after`, epoch ms; undefined when there is none. */
export function nextCronTime(
  { cron, timezone, offsetMs }: CronRecurrence,
  after: number,
): number | undefined {
  const time = findTime(parseCron(cron), timezone, after - offsetMs);
  return time === undefined ? undefined : time + offsetMs;
}
