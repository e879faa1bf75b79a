import { createSyncEvent, insertOutboxEvent } from '@platform/events';
import type { Clock } from '@platform/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { jobKeyOf } from '../../connectors.js';
import { inTransaction } from '../../transaction.js';
import { type CrawlJob, timeOfTick } from '../queues/job.js';
import { nextRunAfter, planOf } from '../schedules/plan.js';
import { lockSchedule, type Schedule } from '../schedules/queries.js';
import {
  abortOrphan,
  endRun,
  findLease,
  findScheduleById,
  findTick,
  finishOneOff,
  insertRun,
  lockScheduleRow,
  markHandedBack,
  markRetrying,
  pruneRuns,
  retakeRun,
  type Run,
} from './queries.js';
import { decideTick, RECOVERIES_MAX } from './run-state.js';

/** A run in this worker's hands. */
export interface BegunRun {
  readonly run: Run;
  readonly schedule: Schedule;
}

/** The run of a job is in other hands, at least until then, epoch ms. */
export interface BusyRun {
  readonly busyUntil: number;
}

export interface RunLifecycle {
  /** @returns undefined when there is nothing to do for the job. */
  begin(job: CrawlJob): Promise<BegunRun | BusyRun | undefined>;
  /** The run's end and its sync event, both or neither. @returns false when the run had ended before. */
  complete(begun: BegunRun): Promise<boolean>;
  /** @returns what follows; `void` when the run had ended before. */
  fail(begun: BegunRun, reason: string): Promise<'retry' | 'failed' | 'void'>;
  handBack(begun: BegunRun): Promise<void>;
}

export interface RunTimes {
  /** How long a run may go without a sign of its worker. */
  readonly leaseMs: number;
  readonly retryDelayMs: number;
  readonly misfireGraceMs: number;
}

/** What the table keeps of each connector of an organisation. */
const RUNS_KEPT = 200;
const PRUNE_EVERY = 16;
/** A retry that isn't taken up this long after its time is taken for lost. */
const RETRY_GRACE_MS = 60_000;
const REASON_LENGTH_MAX = 2_000;

/** What a look at the rows made of a job: a run to do, nothing to do, or nothing found. */
type Look = BegunRun | BusyRun | 'void' | 'unknown';

const tickOf = (revision: number, at: number): string => `${revision}:${at}`;

/** Of a remote's making: cut, and without what PostgreSQL's text can't hold. */
const storable = (reason: string): string =>
  reason.replaceAll('\0', '').toWellFormed().slice(0, REASON_LENGTH_MAX);

export function createRunLifecycle(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly times: RunTimes;
  /** Called after each commit that left an event in the outbox. */
  readonly onEvent: () => void;
}): RunLifecycle {
  const { pool, clock, times, onEvent } = deps;
  const leaseUntil = () => new Date(clock() + times.leaseMs);

  async function retake(job: CrawlJob, runId: string): Promise<Look> {
    const run = await retakeRun(pool, runId, {
      at: new Date(clock()),
      jobId: job.id ?? '',
      leaseUntil: leaseUntil(),
    });
    if (!run) {
      const leased = await findLease(pool, runId);
      return leased ? { busyUntil: leased.getTime() } : 'unknown';
    }
    const schedule = await findScheduleById(pool, run.scheduleId);
    // Left in progress it would keep every later run of the connector out.
    if (!schedule) return (await abortOrphan(pool, runId, new Date(clock()))) ? 'void' : 'unknown';
    if (run.recoveries <= RECOVERIES_MAX) return { run, schedule };
    await end(run, schedule, 'failed', `Its worker vanished ${run.recoveries} times`);
    return 'void';
  }

  async function startTick(
    job: CrawlJob,
    schedule: Schedule,
    at: number,
    skipReason: string | null,
  ): Promise<Look> {
    const now = clock();
    const isOnce = schedule.config.scheduleType === 'once';
    const plan = planOf(schedule.config, jobKeyOf(schedule.connector, schedule.orgId));
    const next = isOnce ? undefined : nextRunAfter(plan, Math.max(now, at));
    const isSkipped = skipReason !== null;
    const run = await insertRun(pool, {
      id: uuidv7(),
      schedule,
      trigger: 'schedule',
      tick: tickOf(schedule.revision, at),
      jobId: job.id ?? '',
      state: isSkipped ? 'skipped' : 'active',
      scheduledFor: new Date(at),
      at: new Date(now),
      leaseUntil: isSkipped ? null : leaseUntil(),
      reason: skipReason,
      nextRunAt: next === undefined ? undefined : new Date(next),
    });
    // Two deliveries at once: a second look finds what the other has made of it.
    if (!run) return 'unknown';
    if (isSkipped && isOnce) await finishOneOff(pool, run);
    return isSkipped ? 'void' : { run, schedule };
  }

  async function look(job: CrawlJob): Promise<Look> {
    const { data } = job;
    if (data.kind === 'run') return retake(job, data.runId);
    const { scheduleId, revision } = data;
    const at = data.kind === 'once' ? data.at : timeOfTick(job.id ?? '');
    const found = await findTick(pool, {
      scheduleId,
      tick: tickOf(revision, at),
      revision,
      scheduledFor: at,
    });
    const decision = decideTick(found, clock(), times.misfireGraceMs);
    if (decision.action === 'retake') return retake(job, decision.runId);
    if (decision.action === 'void' || decision.action === 'unknown' || !found.schedule)
      return decision.action === 'void' ? 'void' : 'unknown';
    return startTick(job, found.schedule, at, decision.action === 'skip' ? decision.reason : null);
  }

  async function end(run: Run, schedule: Schedule, outcome: 'completed' | 'failed', reason: string | null) {
    const now = clock();
    const event = createSyncEvent({
      orgId: run.orgId,
      connector: run.connector,
      now,
      sourceCreatedAt: schedule.scheduledAt.getTime(),
    });
    const isMine = await inTransaction(pool, async (tx) => {
      // Everybody locks the schedule before the run: the other way round, a pause and this deadlock.
      const endsSchedule = schedule.config.scheduleType === 'once' && run.trigger !== 'manual';
      if (endsSchedule) await lockScheduleRow(tx, run.scheduleId);
      const eventId = outcome === 'completed' ? event.eventId : null;
      if (!(await endRun(tx, { run, outcome, at: new Date(now), reason, eventId }))) return false;
      if (outcome === 'completed') await insertOutboxEvent(tx, event, { runId: run.id });
      if (endsSchedule) await finishOneOff(tx, run);
      return true;
    });
    if (isMine && outcome === 'completed') onEvent();
    // By chance, not by count: a count may fall upon the same connector each time.
    if (Math.random() * PRUNE_EVERY < 1) await pruneRuns(pool, run.orgId, run.connector, RUNS_KEPT);
    return isMine;
  }

  return {
    async begin(job) {
      const first = await look(job);
      if (first !== 'unknown') return first === 'void' ? undefined : first;
      // A job can be here before the transaction that made it has ended; that one holds the lock.
      await inTransaction(pool, (tx) => lockSchedule(tx, job.data.orgId, job.data.connector));
      const second = await look(job);
      return typeof second === 'string' ? undefined : second;
    },
    complete: ({ run, schedule }) => end(run, schedule, 'completed', null),
    async fail({ run, schedule }, reason) {
      if (run.attempts >= run.attemptsMax)
        return (await end(run, schedule, 'failed', storable(reason))) ? 'failed' : 'void';
      const delayMs = times.retryDelayMs * 2 ** (run.attempts - 1);
      const until = new Date(clock() + delayMs + RETRY_GRACE_MS);
      return (await markRetrying(pool, run, storable(reason), until)) ? 'retry' : 'void';
    },
    async handBack({ run }) {
      await markHandedBack(pool, run, new Date(clock() + RETRY_GRACE_MS));
    },
  };
}
