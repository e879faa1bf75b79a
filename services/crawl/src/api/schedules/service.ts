import type { AccountPrincipal } from '@platform/auth';
import type { Connector } from '@platform/events';
import type { Clock } from '@platform/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { insertRun } from '../../db/runs.js';
import { findStatus, findStatuses } from '../../db/schedule-status.js';
import { findSchedule, resumeSchedule, stopSchedules, finishOneOff } from '../../db/schedules.js';
import { inTransaction } from '../../db/transaction.js';
import { toQueueName } from '../../domain/connectors.js';
import { nextRunAfter, createPlan } from '../../domain/plan.js';
import type { ScheduleConfig } from '../../domain/schedule-config.js';
import type { Schedule } from '../../domain/schedule.js';
import { alreadyPaused, nothingToPause, nothingToResume } from './errors.js';
import { saveSchedule, toNewSchedule } from './save-schedule.js';
import { type StatusItem, toStatusItem } from './status-item.js';

/*
 * The states of a schedule. Its row is authoritative, and a change is one commit; queue/applier.ts then updates the
 * queue.
 *
 *   (none)           ─ schedule ──────► active
 *   active           ─ schedule ──────► active    replaced; a run in progress continues, a job not started is void
 *   active           ─ pause ─────────► paused    a run in progress is aborted
 *   paused           ─ resume ────────► active    from the next time on; an overdue one-off runs at once
 *   paused, finished ─ schedule ──────► active    replaced
 *   active           ─ its run ended ─► finished  one-off only; it stays visible until it is replaced or removed
 *   any              ─ remove ────────► (none)    a run in progress is aborted; the row remains for the applier
 *
 * Each of these except the end of a run gives the row a new revision. A job of an older revision is recognised when it is
 * claimed, and does nothing, so a queue that is not up to date does no harm.
 */

export interface Scheduled {
  readonly jobId: string;
  readonly connector: Connector;
  readonly scheduleConfig: ScheduleConfig;
  readonly scheduledAt: string;
}

interface Deps {
  readonly pool: pg.Pool;
  /** Called after each committed change. */
  readonly onChange: () => void;
  readonly clock: Clock;
}

/**
 * Resumes a one-off schedule whose time passed while it was paused and whose policy is to skip a missed run.
 * @returns whether it was still paused.
 */
const resumeLate = (pool: pg.Pool, paused: Schedule, now: number): Promise<boolean> =>
  inTransaction(pool, async (tx) => {
    const at = new Date(now);
    const schedule = await resumeSchedule(tx, paused, at);
    if (!schedule) return false;
    const run = await insertRun(tx, {
      id: uuidv7(),
      schedule,
      trigger: 'schedule',
      tick: `${schedule.revision}:${now}`,
      jobId: '',
      state: 'skipped',
      scheduledFor: at,
      at,
      leaseUntil: null,
      reason: 'Missed: the schedule was paused when it was due',
      nextRunAt: undefined,
    });
    if (run) await finishOneOff(tx, run);
    return true;
  });

export function createScheduleService({ pool, onChange, clock }: Deps) {
  return {
    /** Creates or replaces a schedule. @throws AppError 400 (CRAWL-9, CRAWL-10). */
    async schedule(principal: AccountPrincipal, connector: Connector, given: unknown): Promise<Scheduled> {
      const now = clock();
      const wanted = toNewSchedule(principal, connector, given, now);
      const revision = await saveSchedule(pool, wanted, now);
      onChange();
      return {
        jobId: `${toQueueName(connector)}:${revision}`,
        connector,
        scheduleConfig: wanted.config,
        scheduledAt: wanted.scheduledAt.toISOString(),
      };
    },

    async status(orgId: string, connector: Connector): Promise<StatusItem | undefined> {
      const found = await findStatus(pool, orgId, connector);
      return found && toStatusItem(found.schedule, found.run, clock());
    },

    async list(orgId: string): Promise<StatusItem[]> {
      const now = clock();
      return (await findStatuses(pool, orgId)).map(({ schedule, run }) => toStatusItem(schedule, run, now));
    },

    /** @returns when it was paused. @throws AppError 400 when there is nothing to pause, or it is paused already. */
    async pause(orgId: string, connector: Connector): Promise<Date> {
      const at = new Date(clock());
      if (!(await stopSchedules(pool, 'paused', { orgId, connector, at }))) {
        const schedule = await findSchedule(pool, orgId, connector);
        throw schedule?.state === 'paused' ? alreadyPaused() : nothingToPause();
      }
      onChange();
      return at;
    },

    /** @returns when it was resumed. @throws AppError 400 when it is not paused. */
    async resume(orgId: string, connector: Connector): Promise<Date> {
      const now = clock();
      for (let isResumed = false; !isResumed;) {
        const paused = await findSchedule(pool, orgId, connector);
        if (paused?.state !== 'paused') throw nothingToResume();
        const next = nextRunAfter(createPlan(paused), now);
        isResumed =
          next === undefined && paused.config.missedRunPolicy === 'skip'
            ? await resumeLate(pool, paused, now)
            : (await resumeSchedule(pool, paused, new Date(next ?? now))) !== undefined;
      }
      onChange();
      return new Date(now);
    },

    /** Removes the schedule, if there is one. */
    async remove(orgId: string, connector: Connector): Promise<void> {
      if (await stopSchedules(pool, 'removed', { orgId, connector, at: new Date(clock()) })) onChange();
    },

    /** Removes all of the organisation's schedules, or none of them when it fails. */
    async removeAll(orgId: string): Promise<void> {
      if (await stopSchedules(pool, 'removed', { orgId, at: new Date(clock()) })) onChange();
    },
  };
}

export type ScheduleService = ReturnType<typeof createScheduleService>;
