import { createSyncEvent } from '@platform/events';
import type { Clock } from '@platform/service-kit';
import type pg from 'pg';
import { completeRun, failRun, markPostponed, markHandedBack, markRetrying } from '../db/claimed-runs.js';
import { maybePruneRuns } from '../db/prune-runs.js';
import { lockScheduleRow, finishOneOff } from '../db/schedules.js';
import { inTransaction, type Db } from '../db/transaction.js';
import type { CrawlJob } from '../queue/job.js';
import type { ClaimedRun, RunTimes } from './claimed-run.js';
import { createRunClaimer } from './claim-run.js';
import { getRetryDelayMs } from './tasks/retry-delay.js';
import type { EndpointUnavailable } from './tasks/task.js';

export type Failure = 'retry' | 'failed' | 'void';

/** A retry that is not claimed this long after its time counts as lost. */
const RETRY_GRACE_MS = 60_000;
const MAX_REASON_LENGTH = 2_000;

/** The reason that is shown while a run waits for its endpoint. */
export const describeWait = (since: Date, message: string): string =>
  `Waiting for the endpoint since ${since.toISOString()}: ${message}`;

/**
 * Makes a reason that comes from an endpoint storable: short enough, and without characters that PostgreSQL rejects.
 */
const toStorableReason = (reason: string): string =>
  reason.replaceAll('\0', '').toWellFormed().slice(0, MAX_REASON_LENGTH);

export function createRunLifecycle(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly times: RunTimes;
  /** Called after each commit that stored an event in the outbox. */
  readonly onEvent: () => void;
  /** Called for a job that should no longer be in the queue. */
  readonly onStale: (job: CrawlJob) => Promise<unknown>;
}) {
  const { pool, clock, times, onEvent, onStale } = deps;

  /** @param write - the statement that ends the run; resolves with whether the claim was valid. */
  async function end({ run, schedule }: ClaimedRun, write: (db: Db) => Promise<boolean>): Promise<boolean> {
    const endsSchedule = schedule.config.scheduleType === 'once' && run.trigger !== 'manual';
    const wasHeld = endsSchedule
      ? await inTransaction(pool, async (tx) => {
          // Every transaction locks the schedule before the run: in the other order, this and a pause would deadlock.
          await lockScheduleRow(tx, run.scheduleId);
          if (!(await write(tx))) return false;
          await finishOneOff(tx, run);
          return true;
        })
      : await write(pool);
    maybePruneRuns(pool, run.orgId, run.connector);
    return wasHeld;
  }

  async function complete(claimed: ClaimedRun): Promise<boolean> {
    const { run, schedule } = claimed;
    const now = clock();
    const event = createSyncEvent({
      orgId: run.orgId,
      connector: run.connector,
      now,
      sourceCreatedAt: schedule.scheduledAt.getTime(),
    });
    const wasHeld = await end(claimed, (db) => completeRun(db, run, new Date(now), event));
    if (wasHeld) onEvent();
    return wasHeld;
  }

  const failForGood = (claimed: ClaimedRun, reason: string): Promise<boolean> =>
    end(claimed, (db) => failRun(db, claimed.run, new Date(clock()), reason));

  async function fail(claimed: ClaimedRun, reason: string): Promise<Failure> {
    const { run } = claimed;
    if (run.attempts >= run.maxAttempts)
      return (await failForGood(claimed, toStorableReason(reason))) ? 'failed' : 'void';
    const delayMs = times.retryDelayMs * 2 ** (run.attempts - 1);
    const now = clock();
    const wasHeld = await markRetrying(pool, run, {
      reason: toStorableReason(reason),
      at: new Date(now),
      leaseUntil: new Date(now + delayMs + RETRY_GRACE_MS),
    });
    return wasHeld ? 'retry' : 'void';
  }

  async function postpone(
    claimed: ClaimedRun,
    cause: EndpointUnavailable,
  ): Promise<{ until: number } | Failure> {
    const { run } = claimed;
    const now = clock();
    const since = run.unavailableSince ?? new Date(now);
    const unavailableForMs = now - since.getTime();
    const leftMs = times.endpointGraceMs - unavailableForMs;
    if (leftMs <= 0) return fail(claimed, `${cause.message}, for ${Math.round(unavailableForMs / 1_000)} s`);
    const until = now + Math.min(leftMs, getRetryDelayMs(unavailableForMs, cause.retryAfterMs));
    const wasHeld = await markPostponed(pool, run, {
      reason: toStorableReason(describeWait(since, cause.message)),
      since,
      leaseUntil: new Date(until + RETRY_GRACE_MS),
    });
    return wasHeld ? { until } : 'void';
  }

  return {
    /** Claims the run of a job. @returns undefined when the job has nothing to do. */
    claim: createRunClaimer({
      pool,
      clock,
      times,
      onStale,
      giveUp: failForGood,
    }),

    /** Ends the run and stores its sync event, both or neither. @returns false when the run had ended before. */
    complete,

    /** Ends the attempt as failed. @returns what follows; `void` when the run had ended before. */
    fail,

    /**
     * Postpones an attempt that could not begin because the endpoint is unavailable.
     *
     * @returns when it continues, epoch ms; or what follows when it has waited for too long, and so has failed.
     */
    postpone,
    async handBack({ run }: ClaimedRun): Promise<void> {
      await markHandedBack(pool, run, new Date(clock() + RETRY_GRACE_MS));
    },
  };
}

export type RunLifecycle = ReturnType<typeof createRunLifecycle>;
