import { createHash } from 'node:crypto';
import { cronOf, nextTime, nextTimes, type Recurrence } from './cron.js';
import type { ScheduleConfig } from './schemas.js';

/** When a schedule runs, whatever its type. Pure. */
export type Plan =
  | { readonly kind: 'recurring'; readonly recurrence: Recurrence }
  | { readonly kind: 'once'; readonly at: number };

/**
 * The same part of the jitter for every run of a connector of an organisation: schedules of many
 * organisations spread, while each keeps its period, and its next times can be told.
 */
function offsetOf(jitterMs: number, jobKey: string): number {
  if (jitterMs === 0) return 0;
  return createHash('sha256').update(jobKey).digest().readUInt32BE() % (jitterMs + 1);
}

export function planOf(config: ScheduleConfig, jobKey: string): Plan {
  const offsetMs = offsetOf(config.jitterMs, jobKey);
  if (config.scheduleType === 'once')
    return { kind: 'once', at: Date.parse(config.scheduledTime) + offsetMs };
  return { kind: 'recurring', recurrence: { cron: cronOf(config), timezone: config.timezone, offsetMs } };
}

/** @returns the first time after `after`; of a one-off job its time, when that is later. */
export function nextRunAfter(plan: Plan, after: number): number | undefined {
  if (plan.kind === 'recurring') return nextTime(plan.recurrence, after);
  return plan.at > after ? plan.at : undefined;
}

export function nextRunsAfter(plan: Plan, after: number, count: number): number[] {
  if (plan.kind === 'recurring') return nextTimes(plan.recurrence, after, count);
  return plan.at > after ? [plan.at] : [];
}
