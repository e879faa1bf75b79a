import { type Connector, createSyncEvent } from '@platform/events';
import { type Clock, createBatcher, currentTraceparent, inTransaction } from '@platform/service-kit';
import type pg from 'pg';
import { type ClaimedRow, claimRuns } from '../db/claim-runs.js';
import {
  type CompletedRun,
  completeRuns,
  failRun,
  markHandedBack,
  markPostponed,
  markRetrying,
  type RunClaim,
  skipRun,
  type SliceResult,
} from '../db/claimed-runs.js';
import { maybePruneRuns } from '../db/prune-runs.js';
import type { Run } from '../db/runs.js';
import { lockScheduleRow, finishOneOff } from '../db/schedules.js';
import { findWork } from '../db/work.js';
import type { Db } from '../db/transaction.js';
import { addCounters } from '../domain/counters.js';
import type { InstanceKey } from '../domain/instance-key.js';
import { createLease } from '../domain/lease.js';
import { findSkipReason, isOfSchedule, MAX_RECOVERIES } from '../domain/run-state.js';
import type { RunTimes } from './claimed-run.js';
import { getRetryDelayMs } from './tasks/retry-delay.js';
import type { EndpointUnavailable } from './tasks/task.js';

export type Failure = 'retry' | 'failed' | 'void';

/**
 * Runs to claim or complete while a batch is written form the next batch. Of those to complete, there are two at a time,
 * so that a batch that waits for a locked row delays only its own. Claims skip such rows, and wait for one another.
 */
const BATCH = { maxBatch: 100, maxWaitMs: 20 } as const;

const MAX_REASON_LENGTH = 2_000;

/** The reason that is shown while a run waits for its endpoint. */
export const describeWait = (message: string): string => `Waiting for the endpoint: ${message}`;

/**
 * Makes a reason that comes from an endpoint storable: short enough, and without characters that PostgreSQL rejects.
 */
const toStorableReason = (reason: string): string =>
  reason.replaceAll('\0', '').toWellFormed().slice(0, MAX_REASON_LENGTH);

/** The columns of a run that its end needs. */
type EndingRun = Pick<
  Run,
  keyof InstanceKey | 'id' | 'claimCount' | 'scheduleId' | 'revision' | 'trigger' | 'worker' | 'parameters'
>;

/** Ends the runs of workers, whichever way they claimed them. */
export function createRunLifecycle(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly times: RunTimes;
  /** The most active runs of a connector, over all replicas (CRAWL-24). */
  readonly concurrency: number;
  /** After so many failed runs of a connector in a row, administrators are mailed. */
  readonly failingAfter: number;
  /** Called after each commit that stored an event in the outbox. */
  readonly onEvent: () => void;
}) {
  const { pool, clock, times, concurrency, failingAfter, onEvent } = deps;

  let calls = 0;
  /** Two claims, and two ends of a run, are never the same. */
  const toKey = (): string => String((calls += 1));

  const claim = createBatcher<Connector, ClaimedRow | undefined>({
    toKey,
    load(connectors) {
      const now = clock();
      return claimRuns(
        pool,
        connectors.map((connector) => ({ connector, lease: createLease() })),
        { at: new Date(now), leaseUntil: new Date(now + times.leaseMs), limit: concurrency },
      );
    },
    ...BATCH,
    maxInFlight: 1,
  });

  const completeOne = async (db: Db, run: CompletedRun): Promise<boolean> =>
    (await completeRuns(db, [run], new Date(clock())))[0] === true;

  const completeInBatch = createBatcher<CompletedRun, boolean>({
    toKey,
    load: (runs) => completeRuns(pool, runs, new Date(clock())),
    ...BATCH,
    maxInFlight: 2,
  });

  /** @param write - the statement that ends the run; resolves with whether the claim was valid. */
  async function end(run: EndingRun, write: (db: Db) => Promise<boolean>): Promise<boolean> {
    const endsSchedule = run.parameters.config.scheduleType === 'once' && isOfSchedule(run.trigger);
    const wasHeld = endsSchedule
      ? await inTransaction(pool, async (tx) => {
          // Every transaction locks the schedule before the run: in the other order, this and a pause would deadlock.
          await lockScheduleRow(tx, run.scheduleId);
          if (!(await write(tx))) return false;
          await finishOneOff(tx, run);
          return true;
        })
      : await write(pool);
    maybePruneRuns(pool, run);
    return wasHeld;
  }

  /** Ends the run and stores its sync event, both or neither. @returns false when the run had ended before. */
  async function complete(
    run: EndingRun & Pick<ClaimedRow, 'mode' | 'counters' | 'fullStartedAt'>,
    result?: SliceResult,
  ): Promise<boolean> {
    const now = clock();
    // If only the event asks for the crawl, nothing has been crawled yet, so nothing that was not seen is gone.
    const isCrawled = run.worker !== 'event';
    // An endpoint may have counted by heartbeats before it said by its answer that it is done.
    const counters =
      result?.counters ?? (isCrawled ? (await findWork(pool, run))?.sliceCounters : undefined) ?? {};
    const event = createSyncEvent({
      orgId: run.orgId,
      connector: run.connector,
      instance: run.instance,
      now,
      sourceCreatedAt: run.parameters.scheduledAt,
      run: {
        id: run.id,
        mode: isCrawled ? run.mode : undefined,
        fullStartedAt: isCrawled ? run.fullStartedAt?.getTime() : undefined,
        counters: addCounters(run.counters, counters),
      },
    });
    const { id, claimCount } = run;
    const completed = { id, claimCount, event, traceparent: currentTraceparent(), isCrawled, ...result };
    const wasHeld = await end(run, (db) =>
      // What a worker reports itself is not in a batch, so that its faults concern no other run.
      db === pool && !result ? completeInBatch(completed) : completeOne(db, completed),
    );
    if (wasHeld) onEvent();
    return wasHeld;
  }

  /**
   * Ends the attempt as failed.
   *
   * @param ending - `location`: where the task can be cancelled, if the endpoint did not say that it has ended. `isFinal`:
   *   whether another attempt would fail the same way, so that there is none.
   * @returns what follows; `void` when the run had ended before.
   */
  async function fail(
    run: EndingRun & Pick<Run, 'attempts' | 'maxAttempts'>,
    reason: string,
    {
      location,
      isFinal = false,
    }: { readonly location?: string | undefined; readonly isFinal?: boolean } = {},
  ): Promise<Failure> {
    const now = clock();
    const failure = { reason: toStorableReason(reason), at: new Date(now), location };
    if (isFinal || run.attempts >= run.maxAttempts)
      return (await end(run, (db) => failRun(db, run, failure, failingAfter))) ? 'failed' : 'void';
    const delayMs = times.retryDelayMs * 2 ** (run.attempts - 1);
    return (await markRetrying(pool, run, failure, new Date(now + delayMs))) ? 'retry' : 'void';
  }

  /** Returns the run if it is to be done; a run that is too late, or whose workers keep crashing, has ended. */
  async function checkClaimed(run: ClaimedRow): Promise<ClaimedRow | undefined> {
    const now = clock();
    if (run.recoveries > MAX_RECOVERIES) {
      const reason = `Lost its worker ${run.recoveries} times`;
      const failure = { reason, at: new Date(now), location: undefined };
      await end(run, (db) => failRun(db, run, failure, failingAfter));
      return undefined;
    }
    const isFirst = run.claimCount === 1 && isOfSchedule(run.trigger);
    const lateMs = now - run.scheduledFor.getTime();
    const reason = isFirst
      ? findSkipReason(run.parameters.config.missedRunPolicy, lateMs, times.misfireGraceMs)
      : null;
    if (reason === null) return run;
    await end(run, (db) => skipRun(db, run, new Date(now), reason));
    return undefined;
  }

  return {
    /** Claims the next run of a connector that is to be done. @returns undefined when there is none, or no free place. */
    async claim(connector: Connector): Promise<ClaimedRow | undefined> {
      for (;;) {
        const run = await claim(connector);
        const checked = run && (await checkClaimed(run));
        if (!run || checked) return checked;
      }
    },
    checkClaimed,
    complete,
    fail,

    /**
     * Postpones an attempt that could not begin because the endpoint is unavailable. An attempt that has waited for too
     * long has failed.
     */
    async postpone(run: ClaimedRow, cause: EndpointUnavailable): Promise<'postponed' | Failure> {
      const now = clock();
      const since = run.unavailableSince ?? new Date(now);
      const unavailableForMs = now - since.getTime();
      const leftMs = times.endpointGraceMs - unavailableForMs;
      if (leftMs <= 0) return fail(run, `${cause.message}, for ${Math.round(unavailableForMs / 1_000)} s`);
      const wasHeld = await markPostponed(pool, run, {
        reason: toStorableReason(describeWait(cause.message)),
        since,
        until: new Date(now + Math.min(leftMs, getRetryDelayMs(unavailableForMs, cause.retryAfterMs))),
      });
      return wasHeld ? 'postponed' : 'void';
    },
    handBack: (run: RunClaim): Promise<boolean> => markHandedBack(pool, run, new Date(clock())),
  };
}

export type RunLifecycle = ReturnType<typeof createRunLifecycle>;
