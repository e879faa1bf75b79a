import { createSyncEvent } from '@platform/events';
import type { Clock } from '@platform/service-kit';
import type pg from 'pg';
import { completeRun, failRun, markAway, markHandedBack, markRetrying } from '../db/claimed-runs.js';
import { pruneSometimes } from '../db/prune-runs.js';
import { lockScheduleRow, finishOneOff } from '../db/schedules.js';
import { inTransaction, type Db } from '../db/transaction.js';
import type { CrawlJob } from '../queue/job.js';
import { type BegunRun, type BusyRun, createTakeUp, type RunTimes } from './claim-run.js';
import { pauseMs } from './tasks/patience.js';
import type { TaskServiceAway } from './tasks/task.js';

export interface RunLifecycle {
  /** @returns undefined when there is nothing to do for the job. */
  begin(job: CrawlJob): Promise<BegunRun | BusyRun | undefined>;
  /** The run's end and its sync event, both or neither. @returns false when the run had ended before. */
  complete(begun: BegunRun): Promise<boolean>;
  /** @returns what follows; `void` when the run had ended before. */
  fail(begun: BegunRun, reason: string): Promise<Failure>;
  /**
   * The endpoint is away, and nobody has begun the attempt. @returns when it goes on, epoch ms; what follows when it has
   * waited for too long, and so failed.
   */
  postpone(begun: BegunRun, away: TaskServiceAway): Promise<{ readonly until: number } | Failure>;
  handBack(begun: BegunRun): Promise<void>;
}

export type Failure = 'retry' | 'failed' | 'void';

/** A retry that isn't taken up this long after its time is taken for lost. */
const RETRY_GRACE_MS = 60_000;
const MAX_REASON_LENGTH = 2_000;

/** The reason that is shown while a run waits for its endpoint. */
export const describeWait = (since: Date, message: string): string =>
  `Waiting for the endpoint since ${since.toISOString()}: ${message}`;

/** Of a remote's making: cut, and without what PostgreSQL's text can't hold. */
const storable = (reason: string): string =>
  reason.replaceAll('\0', '').toWellFormed().slice(0, MAX_REASON_LENGTH);

export function createRunLifecycle(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly times: RunTimes;
  /** Called after each commit that left an event in the outbox. */
  readonly onEvent: () => void;
  /** Called for a job that the queue should not have had any more. */
  readonly onStale: (job: CrawlJob) => Promise<unknown>;
}): RunLifecycle {
  const { pool, clock, times, onEvent, onStale } = deps;

  /** @param write - the run's last statement; says whether the run was in these hands. */
  async function end({ run, schedule }: BegunRun, write: (db: Db) => Promise<boolean>): Promise<boolean> {
    const endsSchedule = schedule.config.scheduleType === 'once' && run.trigger !== 'manual';
    const isMine = endsSchedule
      ? await inTransaction(pool, async (tx) => {
          // Everybody locks the schedule before the run: the other way round, a pause and this deadlock.
          await lockScheduleRow(tx, run.scheduleId);
          if (!(await write(tx))) return false;
          await finishOneOff(tx, run);
          return true;
        })
      : await write(pool);
    pruneSometimes(pool, run.orgId, run.connector);
    return isMine;
  }

  async function complete(begun: BegunRun): Promise<boolean> {
    const { run, schedule } = begun;
    const now = clock();
    const event = createSyncEvent({
      orgId: run.orgId,
      connector: run.connector,
      now,
      sourceCreatedAt: schedule.scheduledAt.getTime(),
    });
    const isMine = await end(begun, (db) => completeRun(db, run, new Date(now), event));
    if (isMine) onEvent();
    return isMine;
  }

  const failForGood = (begun: BegunRun, reason: string): Promise<boolean> =>
    end(begun, (db) => failRun(db, begun.run, new Date(clock()), reason));

  async function fail(begun: BegunRun, reason: string): Promise<Failure> {
    const { run } = begun;
    if (run.attempts >= run.maxAttempts)
      return (await failForGood(begun, storable(reason))) ? 'failed' : 'void';
    const delayMs = times.retryDelayMs * 2 ** (run.attempts - 1);
    const until = new Date(clock() + delayMs + RETRY_GRACE_MS);
    return (await markRetrying(pool, run, storable(reason), until)) ? 'retry' : 'void';
  }

  async function postpone(begun: BegunRun, away: TaskServiceAway): Promise<{ until: number } | Failure> {
    const { run } = begun;
    const now = clock();
    const since = run.awaySince ?? new Date(now);
    const awayForMs = now - since.getTime();
    const leftMs = times.endpointGraceMs - awayForMs;
    if (leftMs <= 0) return fail(begun, `${away.message}, for ${Math.round(awayForMs / 1_000)} s`);
    const until = now + Math.min(leftMs, pauseMs(awayForMs, away.retryAfterMs));
    const isMine = await markAway(pool, run, {
      reason: storable(describeWait(since, away.message)),
      since,
      leaseUntil: new Date(until + RETRY_GRACE_MS),
    });
    return isMine ? { until } : 'void';
  }

  return {
    begin: createTakeUp({
      pool,
      clock,
      times,
      onStale,
      giveUp: failForGood,
    }),
    complete,
    fail,
    postpone,
    async handBack({ run }) {
      await markHandedBack(pool, run, new Date(clock() + RETRY_GRACE_MS));
    },
  };
}
