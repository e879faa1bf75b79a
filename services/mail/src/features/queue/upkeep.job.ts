import { setTimeout as delay } from 'node:timers/promises';
import { type Clock, createPeriodicTask, DAY_MS, firstIdAt, type Logger } from '@platform/service-kit';
import type pg from 'pg';
import { eraseMarked } from './erasure.sql.js';
import { expireLeases, expireQueued } from './queue.sql.js';
import { expireSuppressions } from '../suppressions/suppressions.sql.js';
import { deleteOld, deleteUnsent, expireContents, expireKeys, UPKEEP_BATCH } from './retention.sql.js';

const START_RETRY_MS = 500;
/** The share of the interval that further batches may take, while one of a kind is not enough. */
const BATCHES_SHARE = 0.5;
/** How often the claims of lost replicas are ended: codes may be among them, whose leases are short. */
const LOST_CLAIMS_MS = 500;

export interface QueueTimes {
  /** The claim of a replica that died ends after this time; that of a code that was not begun ends sooner. */
  readonly leaseMs: number;
  readonly upkeepMs: number;
  readonly keyLifetimeMs: number;
}

export const standardTimes: QueueTimes = { leaseMs: 10_000, upkeepMs: 2_000, keyLifetimeMs: DAY_MS };

/** Creates the task that ends what other replicas left, and deletes what need not be kept. */
export function createUpkeep(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly log: Logger;
  readonly times: QueueTimes;
  /** The retention of mails that failed or are unknown, and of the contents of all mails. */
  readonly unsentKeptDays: number;
  /** The retention of all mails; 0 keeps them for ever. */
  readonly recordsKeptDays: number;
  /** Called when mails were queued again. */
  readonly onQueued: () => void;
}) {
  const { pool, clock, log, times, unsentKeptDays, recordsKeptDays } = deps;
  let isUp = false;
  const stopping = new AbortController();

  async function endLostClaims(): Promise<void> {
    const { withdrawn, queued, unknown } = await expireLeases(pool);
    if (withdrawn + queued + unknown > 0)
      log.warn({ withdrawn, queued, unknown }, 'Ended the claims of mails whose replica was lost');
    if (queued > 0) deps.onQueued();
  }

  /** Expires and deletes what is due, at least one batch of each kind. The rest of a large backlog is left to the next runs. */
  async function expireAndDelete(): Promise<void> {
    const now = clock();
    const unsentBefore = new Date(now - unsentKeptDays * DAY_MS);
    const steps = [
      () => expireQueued(pool, new Date(now)),
      () => expireKeys(pool, new Date(now - times.keyLifetimeMs)),
      () => deleteUnsent(pool, unsentBefore),
      () => expireContents(pool, unsentBefore),
      () => (recordsKeptDays > 0 ? deleteOld(pool, firstIdAt(now - recordsKeptDays * DAY_MS)) : 0),
    ];
    const until = performance.now() + times.upkeepMs * BATCHES_SHARE;
    const canRepeat = () => !stopping.signal.aborted && performance.now() < until;
    for (const step of steps) {
      let count = await step();
      while (count === UPKEEP_BATCH && canRepeat()) count = await step();
    }
  }

  const onError = (error: unknown) => {
    log.warn({ err: error }, 'Upkeep of the queue failed; will retry');
  };
  const lostClaims = createPeriodicTask({
    intervalMs: Math.min(LOST_CLAIMS_MS, times.upkeepMs),
    onError,
    run: endLostClaims,
  });
  const task = createPeriodicTask({
    intervalMs: times.upkeepMs,
    onError,
    async run() {
      await eraseMarked(pool);
      await expireSuppressions(pool, new Date(clock()));
      await expireAndDelete();
    },
  });

  return {
    /** Whether mails can be stored, and therefore sent: true from the first upkeep until `stop`. */
    get isUp(): boolean {
      return isUp;
    },

    /** Resolves after the first upkeep, which is retried while the database is unavailable. */
    async start(): Promise<void> {
      while (!stopping.signal.aborted) {
        const isDone = await Promise.all([task.run(), lostClaims.run()]).then(
          () => true,
          (error: unknown) => {
            onError(error);
            return false;
          },
        );
        if (isDone) break;
        await delay(START_RETRY_MS, undefined, { ref: false });
      }
      if (stopping.signal.aborted) return;
      isUp = true;
      task.start();
      lostClaims.start();
    },

    async stop(): Promise<void> {
      isUp = false;
      stopping.abort();
      // The upkeep isn't waited for: it may take longer than the shutdown has.
      void task.stop();
      void lostClaims.stop();
    },
  };
}

export type Upkeep = ReturnType<typeof createUpkeep>;
