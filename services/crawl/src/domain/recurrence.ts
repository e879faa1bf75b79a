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
