import { type CronRecurrence, nextCronTime } from './cron.js';

/* Calculates the times of a recurring schedule. Pure: it reads no clock. */

/** Times at a fixed distance, whatever the clocks of any zone show. Epoch ms and ms. */
export interface IntervalRecurrence {
  readonly firstAt: number;
  readonly everyMs: number;
}

export type Recurrence = CronRecurrence | IntervalRecurrence;

function nextIntervalTime({ firstAt, everyMs }: IntervalRecurrence, after: number): number {
  if (after < firstAt) return firstAt;
  return firstAt + (Math.floor((after - firstAt) / everyMs) + 1) * everyMs;
}

/** @returns the first time after `after`, epoch ms; undefined when there is none. */
export const nextTime = (recurrence: Recurrence, after: number): number | undefined =>
  'everyMs' in recurrence ? nextIntervalTime(recurrence, after) : nextCronTime(recurrence, after);

/** @returns the next `count` times after `after`, fewer when there are no more. */
export function nextTimes(recurrence: Recurrence, after: number, count: number): number[] {
  const times: number[] = [];
  for (let time: number | undefined = after; times.length < count; times.push(time)) {
    time = nextTime(recurrence, time);
    if (time === undefined) break;
  }
  return times;
}

/*
 * BullMQ stores a pattern and a zone with each job scheduler, and hands them back when it asks for the next time. Everything
 * that decides the next time travels in the pattern, so that `nextTime` alone decides it.
 *
 *   5 2 * * *                       a cron expression
 *   5 2 * * * @60000                the same, a minute later each time (jitter)
 *   every 18000000 1790000000000    every five hours, from that instant on
 */

/** No field of a cron expression begins with this. */
const OFFSET_MARK = ' @';
const INTERVAL = /^every (\d+) (\d+)$/;

/** @returns the pattern that BullMQ stores; {@link parsePattern} reads it. */
export function toPattern(recurrence: Recurrence): { readonly pattern: string; readonly tz: string } {
  if ('everyMs' in recurrence)
    return { pattern: `every ${recurrence.everyMs} ${recurrence.firstAt}`, tz: 'UTC' };
  const { cron, offsetMs, timezone } = recurrence;
  return { pattern: offsetMs === 0 ? cron : `${cron}${OFFSET_MARK}${offsetMs}`, tz: timezone };
}

export function parsePattern(pattern: string, timezone: string | undefined): Recurrence {
  const interval = INTERVAL.exec(pattern);
  if (interval) return { everyMs: Number(interval[1]), firstAt: Number(interval[2]) };
  const [cron = '', offset = '0'] = pattern.split(OFFSET_MARK);
  return { cron, timezone: timezone ?? 'UTC', offsetMs: Number(offset) };
}
