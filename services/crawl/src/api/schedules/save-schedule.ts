import type { AccountPrincipal } from '@platform/auth';
import { DEFAULT_INSTANCE } from '@platform/events';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { isEndpointViolation } from '../../db/endpoints.js';
import { hasInstance } from '../../db/instances.js';
import { findSchedule, type NewSchedule, upsertSchedule } from '../../db/schedules.js';
import type { Act } from '../../domain/act.js';
import type { InstanceKey } from '../../domain/instance-key.js';
import { createPlan, hasSameTimes, isAnchored, nextRunAfter } from '../../domain/plan.js';
import type { Schedule } from '../../domain/schedule.js';
import { readScheduleBody } from '../../domain/validate-schedule.js';
import { instanceNotFound } from '../instances/errors.js';
import { disabledJob, invalidSchedule, timeNotInFuture } from './errors.js';

/** Validates a request body, and converts it to a new row. @throws AppError 400 (CRAWL-9, CRAWL-10). */
export function toNewSchedule(
  { userId }: Pick<AccountPrincipal, 'userId'>,
  key: InstanceKey,
  body: unknown,
  now: number,
): NewSchedule {
  const read = readScheduleBody(body, now);
  if ('faults' in read) throw invalidSchedule(read.faults);
  const {
    scheduleConfig: config,
    priority,
    maxRetries,
    timeout,
    metadata,
    worker,
    endpointId,
    fullEvery,
  } = read.body;
  if (!config.isEnabled) throw disabledJob();
  if (config.scheduleType === 'once' && Date.parse(config.scheduledTime) <= now) throw timeNotInFuture();
  const scheduledAt = new Date(now);
  const plan = createPlan({ ...key, config, anchorAt: scheduledAt });
  const next = nextRunAfter(plan, now);
  if (next === undefined) throw timeNotInFuture();
  return {
    ...key,
    id: uuidv7(),
    userId,
    config,
    priority,
    maxRetries,
    timeoutMs: timeout,
    metadata: metadata ?? null,
    worker,
    endpointId: endpointId ?? null,
    fullEveryDays: fullEvery === undefined ? null : Number(fullEvery.slice(1, -1)),
    scheduledAt,
    anchorAt: scheduledAt,
    nextRunAt: new Date(next),
  };
}

/** Keeps the anchor when the times are unchanged, so that saving the same schedule again does not move its runs. */
function keepAnchor(wanted: NewSchedule, current: Schedule, now: number): NewSchedule {
  const kept = { ...wanted, anchorAt: current.anchorAt };
  const plan = createPlan(kept);
  if (!hasSameTimes(createPlan(current), plan)) return wanted;
  return { ...kept, nextRunAt: new Date(nextRunAfter(plan, now) ?? wanted.nextRunAt) };
}

const unknownEndpoint = { field: 'endpointId', message: 'is not an endpoint of the organisation' };

/** A schedule as it was saved. */
interface SavedSchedule {
  readonly revision: number;
  readonly nextRunAt: Date;
}

/** Creates or replaces the schedule. @throws AppError 404 without the instance. */
export async function saveSchedule(pool: pg.Pool, wanted: NewSchedule, act: Act): Promise<SavedSchedule> {
  for (;;) {
    const current = isAnchored(wanted.config) ? await findSchedule(pool, wanted) : undefined;
    const schedule = current ? keepAnchor(wanted, current, act.at.getTime()) : wanted;
    const revision = await upsertSchedule(pool, schedule, act, current?.revision).catch((error: unknown) => {
      throw isEndpointViolation(error) ? invalidSchedule([unknownEndpoint]) : error;
    });
    if (revision !== undefined) return { revision, nextRunAt: schedule.nextRunAt };
    if (wanted.instance !== DEFAULT_INSTANCE && !(await hasInstance(pool, wanted))) throw instanceNotFound();
    // Another change was committed first: read again what this one replaces.
  }
}
