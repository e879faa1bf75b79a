import type { UserPrincipal } from '@platform/auth';
import type { Connector } from '@platform/events';
import type { Clock, Logger } from '@platform/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { toQueueName } from '../../connectors.js';
import type { Transaction } from '../../transaction.js';
import { onceJobId } from '../queues/job.js';
import type { CrawlQueues } from '../queues/queues.js';
import { abortRun, finishOneOff, insertRun, isJobInProgress } from '../runs/queries.js';
import {
  alreadyPaused,
  disabledJob,
  invalidSchedule,
  notAllRemoved,
  nothingToPause,
  nothingToResume,
  type RemovalFault,
  timeNotInFuture,
} from './errors.js';
import { allOrNothing, type ChangeSchedule } from './locked.js';
import { hasSameTimes, isCounted, nextRunAfter, createPlan } from './plan.js';
import {
  deleteSchedule,
  findConnectors,
  findSchedule,
  markPaused,
  markResumed,
  type NewSchedule,
  type Replaced,
  type Schedule,
  upsertSchedule,
} from './queries.js';
import type { ScheduleConfig } from './schemas.js';
import { type StatusItem, toStatusItem } from './status-item.js';
import { findStatus, findStatuses } from './status.queries.js';
import { readScheduleBody } from './validate-schedule.js';

/*
 * The states of a schedule. Its row is the truth. What a new revision needs is in the queue before the row is committed;
 * what an old one left is removed afterwards, or by the reconciler when that fails.
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
  /** Creates or replaces. @throws AppError 400 of CRAWL-9 and CRAWL-10; 503. Both change nothing, but for a commit that was lost. */
  schedule(principal: UserPrincipal, connector: Connector, body: unknown): Promise<Scheduled>;
  status(orgId: string, connector: Connector): Promise<StatusItem | undefined>;
  list(orgId: string): Promise<StatusItem[]>;
  /** @returns when. @throws AppError 400 when there is nothing to pause, or it is paused. */
  pause(orgId: string, connector: Connector): Promise<Date>;
  /** @returns when. @throws AppError 400 when nothing is paused. */
  resume(orgId: string, connector: Connector): Promise<Date>;
  /** There need not be one. */
  remove(orgId: string, connector: Connector): Promise<void>;
  /** Removes all that can be removed. @throws AppError that names the connectors that are left, each with its reason. */
  removeAll(orgId: string): Promise<void>;
}

interface Deps {
  readonly pool: pg.Pool;
  readonly change: ChangeSchedule;
  readonly queues: CrawlQueues;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
}

/** @throws AppError 400. */
function readNewSchedule(principal: UserPrincipal, connector: Connector, given: unknown, now: number) {
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
async function keepAnchor(tx: Transaction, wanted: NewSchedule, now: number): Promise<NewSchedule> {
  if (!isCounted(wanted.config)) return wanted;
  const current = await findSchedule(tx, wanted.orgId, wanted.connector);
  if (!current) return wanted;
  const kept = { ...wanted, anchorAt: current.anchorAt };
  const plan = createPlan(kept);
  if (!hasSameTimes(createPlan(current), plan)) return wanted;
  return { ...kept, nextRunAt: new Date(nextRunAfter(plan, now) ?? wanted.nextRunAt) };
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

export function createScheduleService({ pool, change, queues, clock, log }: Deps): ScheduleService {
  const changeOne = allOrNothing(change);

  /** After the commit: what stays in the queue does nothing, so that a queue that is away fails no change. */
  async function clearQueue(revision: Replaced | undefined): Promise<void> {
    if (!revision) return;
    await queues.clear(revision).catch((error: unknown) => {
      const { orgId, connector } = revision;
      log.warn({ err: error, orgId, connector }, 'Failed to clear the queue: the reconciler does it');
    });
  }

  /**
   * Returns what of a replaced revision can be cleared. The job of a one-off is also that of its run: it stays while the run
   * is in progress. A job scheduler makes a job of its own for each run, and never stands for one.
   */
  async function findUnused(tx: Transaction, replaced: Replaced | undefined): Promise<Replaced | undefined> {
    if (replaced?.config.scheduleType !== 'once') return replaced;
    const { id, orgId, connector, revision } = replaced;
    const jobId = onceJobId(id, revision);
    return (await isJobInProgress(tx, { orgId, connector, jobId })) ? undefined : replaced;
  }

  /** @returns what was removed. */
  function removeRow(by: ChangeSchedule, orgId: string, connector: Connector): Promise<Schedule | undefined> {
    const at = new Date(clock());
    return by(orgId, connector, async (tx) => {
      const schedule = await deleteSchedule(tx, orgId, connector);
      if (schedule) await abortRun(tx, { orgId, connector, reason: 'The schedule was removed', at });
      return schedule;
    });
  }

  return {
    async schedule(principal, connector, given) {
      const now = clock();
      const wanted = readNewSchedule(principal, connector, given, now);
      const { revision, previous } = await changeOne(wanted.orgId, connector, async (tx) => {
        const schedule = await upsertSchedule(tx, await keepAnchor(tx, wanted, now));
        await queues.apply(schedule);
        return { ...schedule, previous: await findUnused(tx, schedule.previous) };
      });
      await clearQueue(previous);
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
      const paused = await changeOne(orgId, connector, async (tx) => {
        const schedule = await findSchedule(tx, orgId, connector);
        if (!schedule || schedule.state === 'finished') throw nothingToPause();
        if (schedule.state === 'paused') throw alreadyPaused();
        if (!(await markPaused(tx, schedule.id, at))) throw nothingToPause();
        await abortRun(tx, { orgId, connector, reason: 'The schedule was paused', at });
        return schedule;
      });
      await clearQueue(paused);
      return at;
    },

    async resume(orgId, connector) {
      const now = clock();
      await changeOne(orgId, connector, async (tx) => {
        const paused = await findSchedule(tx, orgId, connector);
        if (paused?.state !== 'paused') throw nothingToResume();
        const next = nextRunAfter(createPlan(paused), now);
        const schedule = await markResumed(tx, paused.id, new Date(next ?? now));
        if (next === undefined && schedule.config.missedRunPolicy === 'skip')
          await resumeLate(tx, schedule, now);
        else await queues.apply(schedule);
      });
      return new Date(now);
    },

    async remove(orgId, connector) {
      await clearQueue(await removeRow(changeOne, orgId, connector));
    },

    async removeAll(orgId) {
      const removed: (Schedule | undefined)[] = [];
      const faults: RemovalFault[] = [];
      for (const connector of await findConnectors(pool, orgId))
        await removeRow(change, orgId, connector).then(
          (schedule) => removed.push(schedule),
          (error: unknown) => faults.push({ connector, error }),
        );
      // Together: a queue that hangs makes nobody wait for each of them.
      await Promise.all(removed.map(clearQueue));
      if (faults.length > 0) throw notAllRemoved(faults);
    },
  };
}
