import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { HOUR_MS } from '@platform/service-kit';
import { toJobKey } from './connectors.js';
import { toCron, nextCronTime } from './cron.js';
import type { InstanceKey } from './instance-key.js';
import { type IntervalRecurrence, nextTime, nextTimes, type Recurrence } from './recurrence.js';
import type { RecurringConfig, ScheduleConfig } from './schedule-config.js';
import type { Schedule } from './schedule.js';

/** Describes when a schedule runs, whatever its type. */
export type Plan =
  | { readonly kind: 'recurring'; readonly recurrence: Recurrence }
  | { readonly kind: 'once'; readonly at: number };

/** The properties that determine the times of a schedule. */
export type PlanInput = Pick<Schedule, keyof InstanceKey | 'config' | 'anchorAt'>;

const HOURS_A_DAY = 24;

/**
 * Returns the same part of the jitter for every run of an organisation's connector: the schedules of many
 * organisations are spread out, while each keeps its period and its next times are predictable.
 */
function toOffset(jitterMs: number, jobKey: string): number {
  if (jitterMs === 0) return 0;
  return createHash('sha256').update(jobKey).digest().readUInt32BE() % (jitterMs + 1);
}

/** Returns whether the interval does not divide the day, so that its times are counted from the anchor. */
export const isAnchored = (config: ScheduleConfig): boolean =>
  config.scheduleType === 'hourly' && HOURS_A_DAY % config.interval !== 0;

/**
 * An interval of hours that does not divide the day has no fixed hours. It is counted from the first run, which is
 * the first time after the anchor at which the zone's clocks show the minute.
 */
function findInterval(
  config: RecurringConfig,
  offsetMs: number,
  anchorAt: Date,
): IntervalRecurrence | undefined {
  if (config.scheduleType !== 'hourly' || !isAnchored(config)) return undefined;
  const everyHour = { cron: `${config.minute} * * * *`, timezone: config.timezone, offsetMs };
  const firstAt = nextCronTime(everyHour, anchorAt.getTime());
  return firstAt === undefined ? undefined : { firstAt, everyMs: config.interval * HOUR_MS };
}

export function createPlan({ config, anchorAt, ...key }: PlanInput): Plan {
  const offsetMs = toOffset(config.jitterMs, toJobKey(key));
  if (config.scheduleType === 'once')
    return { kind: 'once', at: Date.parse(config.scheduledTime) + offsetMs };
  const recurrence = findInterval(config, offsetMs, anchorAt) ?? {
    cron: toCron(config),
    timezone: config.timezone,
    offsetMs,
  };
  return { kind: 'recurring', recurrence };
}

/** Returns whether two plans have the same times. The times of an interval depend on its anchor. */
export const hasSameTimes = (one: Plan, other: Plan): boolean =>
  one.kind === 'recurring' &&
  other.kind === 'recurring' &&
  isDeepStrictEqual(one.recurrence, other.recurrence);

/** @returns the first time after `after`, epoch ms; for a one-off schedule its time, if that is later. */
export function nextRunAfter(plan: Plan, after: number): number | undefined {
  if (plan.kind === 'recurring') return nextTime(plan.recurrence, after);
  return plan.at > after ? plan.at : undefined;
}

export function nextRunsAfter(plan: Plan, after: number, count: number): number[] {
  if (plan.kind === 'recurring') return nextTimes(plan.recurrence, after, count);
  return plan.at > after ? [plan.at] : [];
}
