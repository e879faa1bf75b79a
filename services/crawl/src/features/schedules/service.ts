import type { UserPrincipal } from '@platform/auth';
import type { Connector } from '@platform/events';
import type { Clock } from '@platform/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { jobKeyOf, queueNameOf } from '../../connectors.js';
import type { Transaction } from '../../transaction.js';
import type { CrawlQueues } from '../queues/queues.js';
import { abortRun, finishOneOff, insertRun } from '../runs/queries.js';
import {
  alreadyPaused,
  disabledJob,
  invalidSchedule,
  nothingToPause,
  nothingToResume,
  timeNotInFuture,
} from './errors.js';
import { allOrNothing, type ChangeSchedule } from './locked.js';
import { nextRunAfter, planOf } from './plan.js';
import {
  deleteSchedule,
  findConnectors,
  findSchedule,
  markPaused,
  markResumed,
  type Schedule,
  upsertSchedule,
} from './queries.js';
import type { ScheduleConfig } from './schemas.js';
import { type StatusItem, statusItemOf } from './status-item.js';
import { findStatus, findStatuses } from './status.queries.js';
import { readScheduleBody } from './validate-schedule.js';

/*
 * The states of a schedule. Its row is the truth; the queue is made to agree with it inside the
 * same transaction, and by the reconciler when that failed half-way.
 *
 *   (none)           ─ schedule ──────► active
 *   active           ─ schedule ──────► active    replaced; a run in progress goes on, one not begun is void
 *   active           ─ pause ─────────► paused    a run in progress is aborted
 *   paused           ─ resume ────────► active    from the next time on; a one-off that is due, at once
 *   paused, finished ─ schedule ──────► active    replaced
 *   active           ─ its run ended ─► finished  one-off only; it stays to be read until replaced or removed
 *   any              ─ remove ────────► (none)    a run in progress is aborted
 *
 * Each write that voids earlier jobs gives the row a new revision; a job of an older one finds that
 * out when it is taken up, and does nothing. So a job that could not be removed does no harm.
 */

export interface Scheduled {
  readonly jobId: string;
  readonly connector: Connector;
  readonly scheduleConfig: ScheduleConfig;
  readonly scheduledAt: string;
}

export interface ScheduleService {
  /** Creates or replaces. @throws AppError 400 of section 7.2; 503. Both change nothing, but for a commit that was lost. */
  schedule(principal: UserPrincipal, connector: Connector, body: unknown): Promise<Scheduled>;
  status(orgId: string, connector: Connector): Promise<StatusItem | undefined>;
  list(orgId: string): Promise<StatusItem[]>;
  /** @returns when. @throws AppError 400 when there is nothing to pause, or it is paused. */
  pause(orgId: string, connector: Connector): Promise<Date>;
  /** @returns when. @throws AppError 400 when nothing is paused. */
  resume(orgId: string, connector: Connector): Promise<Date>;
  /** There need not be one. */
  remove(orgId: string, connector: Connector): Promise<void>;
  removeAll(orgId: string): Promise<void>;
}

interface Deps {
  readonly pool: pg.Pool;
  readonly change: ChangeSchedule;
  readonly queues: CrawlQueues;
  readonly clock: Clock;
}

/** @throws AppError 400. */
function readNewSchedule(principal: UserPrincipal, connector: Connector, given: unknown, now: number) {
  const read = readScheduleBody(given, now);
  if ('faults' in read) throw invalidSchedule(read.faults);
  const { scheduleConfig: config, priority, maxRetries, timeout, metadata } = read.body;
  if (!config.isEnabled) throw disabledJob();
  if (config.scheduleType === 'once' && Date.parse(config.scheduledTime) <= now) throw timeNotInFuture();
  const { orgId, userId } = principal;
  const next = nextRunAfter(planOf(config, jobKeyOf(connector, orgId)), now);
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
    scheduledAt: new Date(now),
    nextRunAt: new Date(next),
  };
}

async function stopRun(
  tx: Transaction,
  queues: CrawlQueues,
  schedule: Schedule,
  reason: string,
  at: Date,
): Promise<void> {
  const { orgId, connector } = schedule;
  const aborted = await abortRun(tx, { orgId, connector, reason, at });
  await queues.clear(schedule);
  if (aborted) await queues.removeJob(connector, aborted.jobId);
}

/** A one-off job whose time passed while it was paused. */
async function resumeLate(tx: Transaction, schedule: Schedule, now: number): Promise<void> {
  const at = new Date(now);
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
}

export function createScheduleService({ pool, change, queues, clock }: Deps): ScheduleService {
  const changeOne = allOrNothing(change);

  async function remove(by: ChangeSchedule, orgId: string, connector: Connector): Promise<void> {
    await by(orgId, connector, async (tx) => {
      const removed = await deleteSchedule(tx, orgId, connector);
      if (removed) await stopRun(tx, queues, removed, 'The schedule was removed', new Date(clock()));
    });
  }

  return {
    async schedule(principal, connector, given) {
      const wanted = readNewSchedule(principal, connector, given, clock());
      const { revision } = await changeOne(wanted.orgId, connector, async (tx) => {
        const schedule = await upsertSchedule(tx, wanted);
        await queues.apply(schedule, schedule.previous);
        return schedule;
      });
      return {
        jobId: `${queueNameOf(connector)}:${revision}`,
        connector,
        scheduleConfig: wanted.config,
        scheduledAt: wanted.scheduledAt.toISOString(),
      };
    },

    async status(orgId, connector) {
      const found = await findStatus(pool, orgId, connector);
      return found && statusItemOf(found.schedule, found.run, clock());
    },

    async list(orgId) {
      const now = clock();
      return (await findStatuses(pool, orgId)).map(({ schedule, run }) => statusItemOf(schedule, run, now));
    },

    async pause(orgId, connector) {
      const at = new Date(clock());
      await changeOne(orgId, connector, async (tx) => {
        const schedule = await findSchedule(tx, orgId, connector);
        if (!schedule || schedule.state === 'finished') throw nothingToPause();
        if (schedule.state === 'paused') throw alreadyPaused();
        if (!(await markPaused(tx, schedule.id, at))) throw nothingToPause();
        await stopRun(tx, queues, schedule, 'The schedule was paused', at);
      });
      return at;
    },

    async resume(orgId, connector) {
      const now = clock();
      await changeOne(orgId, connector, async (tx) => {
        const paused = await findSchedule(tx, orgId, connector);
        if (paused?.state !== 'paused') throw nothingToResume();
        const next = nextRunAfter(planOf(paused.config, jobKeyOf(connector, orgId)), now);
        const schedule = await markResumed(tx, paused.id, new Date(next ?? now));
        if (next === undefined && schedule.config.missedRunPolicy === 'skip')
          await resumeLate(tx, schedule, now);
        else await queues.apply(schedule);
      });
      return new Date(now);
    },

    remove: (orgId, connector) => remove(changeOne, orgId, connector),

    async removeAll(orgId) {
      for (const connector of await findConnectors(pool, orgId)) await remove(change, orgId, connector);
    },
  };
}
