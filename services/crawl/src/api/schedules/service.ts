import type { AccountPrincipal } from '@platform/auth';
import type { Connector } from '@platform/events';
import type { Actor } from '../../domain/act.js';
import { resumePaused } from '../../db/resume-schedule.js';
import { findStatus, findStatuses } from '../../db/schedule-status.js';
import { findSchedule, type NewSchedule, pauseSchedule, removeSchedules } from '../../db/schedules.js';
import { resetConnectorState } from '../../db/work.js';
import { toQueueName } from '../../domain/connectors.js';
import type { InstanceKey } from '../../domain/instance-key.js';
import type { ScheduleConfig } from '../../domain/schedule-config.js';
import type { ApiContext } from '../context.js';
import { alreadyPaused, nothingToPause, nothingToResume, runInProgress, untilNotInFuture } from './errors.js';
import { saveSchedule, toNewSchedule } from './save-schedule.js';
import { type StatusItem, toStatusItem } from './status-item.js';

/*
 * The states of a schedule. Its row is all there is of it, and a change is one commit; engine/dispatcher.job.ts makes its
 * runs.
 *
 *   (none)           ─ schedule ──────► active
 *   active           ─ schedule ──────► active    replaced; a run in progress continues
 *   active           ─ pause ─────────► paused    a run in progress is aborted
 *   paused           ─ resume, or its `until` ─► active    from the next time on; an overdue one-off is due at once
 *   paused, finished ─ schedule ──────► active    replaced
 *   active           ─ its run ended ─► finished  one-off only; it stays visible until it is replaced or removed
 *   any              ─ remove ────────► (none)    a run in progress is aborted
 */

export interface Scheduled {
  readonly jobId: string;
  readonly connector: Connector;
  readonly scheduleConfig: ScheduleConfig;
  readonly scheduledAt: string;
}

/** Returns what the audit records of a schedule, without what is for its connector alone. */
const toDetail = ({ config, worker, endpointId, fullEveryDays }: NewSchedule) => ({
  ...config,
  // It always is: what is not enabled is refused.
  isEnabled: null,
  worker,
  endpointId,
  fullEvery: fullEveryDays === null ? null : `P${fullEveryDays}D`,
});

const getShownAt = ({ clock, overdueGraceMs }: ApiContext) => ({ at: clock(), overdueGraceMs });

/** Creates or replaces a schedule. @throws AppError 400 (CRAWL-9, CRAWL-10); 404 without the instance. */
export async function setSchedule(
  { clock, pool, onDueAt }: ApiContext,
  principal: AccountPrincipal,
  key: InstanceKey,
  given: unknown,
  actor: Actor,
): Promise<Scheduled> {
  const now = clock();
  const wanted = toNewSchedule(principal, key, given, now);
  const { revision, nextRunAt } = await saveSchedule(pool, wanted, {
    actor,
    at: wanted.scheduledAt,
    detail: toDetail(wanted),
  });
  onDueAt(nextRunAt.getTime());
  return {
    jobId: `${toQueueName(wanted.connector)}:${revision}`,
    connector: wanted.connector,
    scheduleConfig: wanted.config,
    scheduledAt: wanted.scheduledAt.toISOString(),
  };
}

export async function getStatus(ctx: ApiContext, key: InstanceKey): Promise<StatusItem | undefined> {
  const { pool } = ctx;
  const found = await findStatus(pool, key);
  return found && toStatusItem(found, getShownAt(ctx));
}

export async function listStatuses(ctx: ApiContext, orgId: string): Promise<StatusItem[]> {
  const { pool } = ctx;
  return (await findStatuses(pool, orgId, 'with runs ahead')).map((status) =>
    toStatusItem(status, getShownAt(ctx)),
  );
}

/**
 * @param until - when it resumes by itself.
 * @returns when it was paused. @throws AppError 400 when there is nothing to pause, or it is paused already.
 */
export async function pause(
  { clock, pool, onDueAt }: ApiContext,
  key: InstanceKey,
  until: Date | undefined,
  actor: Actor,
): Promise<Date> {
  const at = new Date(clock());
  if (until && until <= at) throw untilNotInFuture();
  const act = { actor, at, detail: { until: until?.toISOString() ?? null } };
  if (!(await pauseSchedule(pool, { ...key, at }, act, until))) {
    const schedule = await findSchedule(pool, key);
    throw schedule?.state === 'paused' ? alreadyPaused() : nothingToPause();
  }
  if (until) onDueAt(until.getTime());
  return at;
}

/** @returns when it was resumed. @throws AppError 400 when it is not paused. */
export async function resume(
  { clock, pool, onDueAt }: ApiContext,
  key: InstanceKey,
  actor: Actor,
): Promise<Date> {
  const now = clock();
  for (let nextRunAt: Date | undefined; !nextRunAt;) {
    const paused = await findSchedule(pool, key);
    if (paused?.state !== 'paused') throw nothingToResume();
    nextRunAt = await resumePaused(pool, paused, { after: now, now, act: { actor, at: new Date(now) } });
    if (nextRunAt) onDueAt(nextRunAt.getTime());
  }
  return new Date(now);
}

/** Forgets what the runs of the instance have left for the next one. @throws AppError 409 while one is in progress. */
export async function resetCheckpoint(
  { pool, clock }: ApiContext,
  key: InstanceKey,
  actor: Actor,
): Promise<void> {
  if (!(await resetConnectorState(pool, key, { actor, at: new Date(clock()) }))) throw runInProgress();
}

/** Removes the schedule, if there is one. */
export async function removeSchedule(
  { clock, pool }: ApiContext,
  key: InstanceKey,
  actor: Actor,
): Promise<void> {
  const at = new Date(clock());
  await removeSchedules(pool, { ...key, at }, { actor, at });
}

/** Removes all of the organisation's schedules, or none of them when it fails. */
export async function removeAllSchedules(
  { clock, pool }: ApiContext,
  orgId: string,
  actor: Actor,
): Promise<void> {
  const at = new Date(clock());
  await removeSchedules(pool, { orgId, at }, { actor, at });
}
