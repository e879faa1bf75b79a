import { CronExpressionParser } from 'cron-parser';
import type { RecurringConfig } from './schemas.js';

/*
 * The times of a recurring schedule. Pure: no clock of its own.
 *
 * The parser is the one that BullMQ would use by itself, so its reading of cron counts: five
 * fields, names, lists, ranges, steps, `L` (last day, or last such weekday), `#`, and a match of
 * either when both the day of the month and of the week are given. On the day that the clock goes
 * forward a time inside the gap runs once, at the first time after it by as much; on the day that
 * it goes back a fixed time runs once, the first time round.
 */

/** The cron expression of a schedule type. */
export function cronOf(config: RecurringConfig): string {
  switch (config.scheduleType) {
    case 'hourly':
      return `${config.minute} ${config.interval === 1 ? '*' : `*/${config.interval}`} * * *`;
    case 'daily':
      return `${config.minute} ${config.hour} * * *`;
    case 'weekly':
      return `${config.minute} ${config.hour} * * ${[...new Set(config.daysOfWeek)].toSorted((a, b) => a - b).join(',')}`;
    case 'monthly':
      return `${config.minute} ${config.hour} ${config.dayOfMonth} * *`;
    case 'custom':
      return config.cronExpression;
  }
}

/** What a job scheduler is made of. */
export interface Recurrence {
  readonly cron: string;
  readonly timezone: string;
  /** Every time is moved later by this: jitter, fixed for the schedule. Milliseconds. */
  readonly offsetMs: number;
}

/** @returns the first time after `after`, epoch ms; undefined when there is none. */
export function nextTime({ cron, timezone, offsetMs }: Recurrence, after: number): number | undefined {
  const interval = CronExpressionParser.parse(cron, { tz: timezone, currentDate: new Date(after - offsetMs) });
  try {
    return interval.next().getTime() + offsetMs;
  } catch {
    // The parser gives up on a date that never comes, such as 31 April.
    return undefined;
  }
}

/** The next `count` times after `after`, fewer when there are no more. */
export function nextTimes(recurrence: Recurrence, after: number, count: number): number[] {
  const times: number[] = [];
  for (let time: number | undefined = after; times.length < count; times.push(time)) {
    time = nextTime(recurrence, time);
    if (time === undefined) break;
  }
  return times;
}

/*
 * BullMQ stores a scheduler's pattern and zone, and hands them back for the next time. The offset
 * travels in the pattern, so that the next time of a scheduler is decided in `nextTime` alone.
 */
const OFFSET_MARK = ' +';

export const patternOf = ({ cron, offsetMs }: Recurrence): string =>
  offsetMs === 0 ? cron : `${cron}${OFFSET_MARK}${offsetMs}`;

export function recurrenceOf(pattern: string, timezone: string | undefined): Recurrence {
  const [cron = '', offset = '0'] = pattern.split(OFFSET_MARK);
  return { cron, timezone: timezone ?? 'UTC', offsetMs: Number(offset) };
}
