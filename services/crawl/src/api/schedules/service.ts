import type { AccountPrincipal } from '@platform/auth';
import type { Connector } from '@platform/events';
import type { Clock } from '@platform/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { insertRun } from '../../db/runs.js';
import { findStatus, findStatuses } from '../../db/schedule-status.js';
import {
  findSchedule,
  type NewSchedule,
  resumeSchedule,
  stopSchedules,
  upsertSchedule,
  finishOneOff,
} from '../../db/schedules.js';
import { inTransaction } from '../../db/transaction.js';
import { toQueueName } from '../../domain/connectors.js';
import { hasSameTimes, isAnchored, nextRunAfter, createPlan } from '../../domain/plan.js';
import type { ScheduleConfig } from '../../domain/schedule-config.js';
import type { Schedule } from '../../domain/schedule.js';
import { readScheduleBody } from '../../domain/validate-schedule.js';
import {
  alreadyPaused,
  disabledJob,
  invalidSchedule,
  nothingToPause,
  nothingToResume,
  timeNotInFuture,
} from './errors.js';
import { type StatusItem, toStatusItem } from './status-item.js';

/*
 * The states of a schedule. Its row is the truth, and a change is one commit of it; queues/applier.ts brings the queue to it
 * afterwards.
 *
 *   (none)           ─ schedule ──────► active
 *   active           ─ schedule ──────► active    replaced; a run in progress goes on, one not begun is void
 *   active           ─ pause ─────────► paused    a run in progress is aborted
 *   paused           ─ resume ────────► active    from the next time on; a one-off that is due, at once
 *   paused, finished ─ schedule ──────► active    replaced
 *   active           ─ its run ended ─► finished  one-off only; it stays to be read until replaced or removed
 *   any              ─ remove ────────► (none)    a run in progress is aborted; the row stays as a mark for the applier
 *
 * Each of these but the end of a run gives the row a new revision; a job of an older one finds that out when it is claimed,
 * and does nothing. So what the queue has not heard yet does no harm.
 */

export interface Scheduled {
  readonly jobId: string;
  readonly connector: Connector;
  readonly scheduleConfig: ScheduleConfig;
  readonly scheduledAt: string;
}

export interface ScheduleService {
  /** Creates or replaces. @throws AppError 400 of CRAWL-9 and CRAWL-10. */
  schedule(principal: AccountPrincipal, connector: Connector, body: unknown): Promise<Scheduled>;
  status(orgId: string, connector: Connector): Promise<StatusItem | undefined>;
  list(orgId: string): Promise<StatusItem[]>;
  /** @returns when. @throws AppError 400 when there is nothing to pause, or it is paused. */
  pause(orgId: string, connector: Connector): Promise<Date>;
  /** @returns when. @throws AppError 400 when nothing is paused. */
  resume(orgId: string, connector: Connector): Promise<Date>;
  /** There need not be one. */
  remove(orgId: string, connector: Connector): Promise<void>;
  /** All of them or none. */
  removeAll(orgId: string): Promise<void>;
}

interface Deps {
  readonly pool: pg.Pool;
  /** Called after each commit of a change. */
  readonly onChange: () => void;
  readonly clock: Clock;
}

/** @throws AppError 400. */
function readNewSchedule(principal: AccountPrincipal, connector: Connector, given: unknown, now: number) {
  const read = readScheduleBody(given, now);
  if ('faults' in read) throw invalidSchedule(read.faults);
  const { scheduleConfig: config, priority, maxRetries, timeout, metadata } = read.body;
  if (!config.isEnabled) throw disabledJob();
  if (config.scheduleType === 'once' && Date.parse(config.scheduledTime) <= now) throw timeNotInFuture();
  const { orgId, userId } = principal;
  const scheduledAt = new Date(now);
  const plan = createPlan({ orgId, connector, config, anchorAt: scheduledAt });
  const next = nextRunAfter(plan, now);
  if (next === undefined) throw timeNotInFuture();
  return {
    id: uuidv7(),
    orgId,
    connector,
    userId,
    config,
    priority,
    maxRetries,
    timeoutMs: timeout,
    metadata: metadata ?? null,
    scheduledAt,
    anchorAt: scheduledAt,
    nextRunAt: new Date(next),
  };
}

/** Goes on counting from the first run where the times are what they were: scheduling again what there is changes nothing. */
function keepAnchor(wanted: NewSchedule, current: Schedule, now: number): NewSchedule {
  const kept = { ...wanted, anchorAt: current.anchorAt };
  const plan = createPlan(kept);
  if (!hasSameTimes(createPlan(current), plan)) return wanted;
  return { ...kept, nextRunAt: new Date(nextRunAfter(plan, now) ?? wanted.nextRunAt) };
}

/** @returns its revision. */
async function save(pool: pg.Pool, wanted: NewSchedule, now: number): Promise<number> {
  for (;;) {
    const current = isAnchored(wanted.config)
      ? await findSchedule(pool, wanted.orgId, wanted.connector)
      : undefined;
    const saved = current
      ? await upsertSchedule(pool, keepAnchor(wanted, current, now), current.revision)
      : await upsertSchedule(pool, wanted);
    // Another change came first; this one looks again at what it replaces.
    if (saved !== undefined) return saved;
  }
}

/** Resumes a one-off job whose time passed while it was paused, and which is not to run late. @returns whether it was still paused. */
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
      reason: 'Missed: its time passed while it was paused',
      nextRunAt: undefined,
    });
    if (run) await finishOneOff(tx, run);
    return true;
  });

export function createScheduleService({ pool, onChange, clock }: Deps): ScheduleService {
  return {
    async schedule(principal, connector, given) {
      const now = clock();
      const wanted = readNewSchedule(principal, connector, given, now);
      const revision = await save(pool, wanted, now);
      onChange();
      return {
        jobId: `${toQueueName(connector)}:${revision}`,
        connector,
        scheduleConfig: wanted.config,
        scheduledAt: wanted.scheduledAt.toISOString(),
      };
    },

    async status(orgId, connector) {
      const found = await findStatus(pool, orgId, connector);
      return found && toStatusItem(found.schedule, found.run, clock());
    },

    async list(orgId) {
      const now = clock();
      return (await findStatuses(pool, orgId)).map(({ schedule, run }) => toStatusItem(schedule, run, now));
    },

    async pause(orgId, connector) {
      const at = new Date(clock());
      if (!(await stopSchedules(pool, 'paused', { orgId, connector, at }))) {
        const schedule = await findSchedule(pool, orgId, connector);
        throw schedule?.state === 'paused' ? alreadyPaused() : nothingToPause();
      }
      onChange();
      return at;
    },

    async resume(orgId, connector) {
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

    async remove(orgId, connector) {
      if (await stopSchedules(pool, 'removed', { orgId, connector, at: new Date(clock()) })) onChange();
    },

    async removeAll(orgId) {
      if (await stopSchedules(pool, 'removed', { orgId, at: new Date(clock()) })) onChange();
    },
  };
}
