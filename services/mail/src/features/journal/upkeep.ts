import { type Clock, createPeriodicTask, DAY_MS, type Logger } from '@platform/service-kit';
import type pg from 'pg';
import { eraseMarked } from './erasure.queries.js';
import { firstIdAt } from './first-id.js';
import { abandonEntries, deleteLateEntries } from './queries.js';
import { deleteOld, deleteUnsent, expireContents, expireKeys } from './retention.queries.js';

export interface JournalTimes {
  readonly heartbeatMs: number;
  /** A sender without a heartbeat for longer than this is considered dead. */
  readonly senderTimeoutMs: number;
  readonly keyLifetimeMs: number;
}

export const standardTimes: JournalTimes = {
  heartbeatMs: 2_000,
  senderTimeoutMs: 10_000,
  keyLifetimeMs: DAY_MS,
};

/** Creates the task that puts right what other processes left, and deletes what need not be kept. */
export function createUpkeep(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly log: Logger;
  readonly senderId: string;
  readonly times: JournalTimes;
  /** The retention of mails that failed or are unknown, and of the contents of all mails. */
  readonly unsentKeptDays: number;
  /** The retention of all mails; 0 keeps them for ever. */
  readonly recordsKeptDays: number;
  /** Lists the mails of this process whose outcome is not stored yet. */
  readonly listInProgress: () => readonly string[];
}) {
  const { pool, clock, log, senderId, times, unsentKeptDays, recordsKeptDays, listInProgress } = deps;
  let expireSendersFrom = 0;

  async function abandonMailsOfDeadSenders(): Promise<void> {
    const abandoned = await abandonEntries(pool, times.senderTimeoutMs);
    if (abandoned > 0)
      log.warn({ mails: abandoned }, 'Marked mails of dead senders as unknown; they may have been sent');
  }

  /** Leaves recent entries alone: one that is recorded while this statement waits isn't in its list of ids. */
  async function deleteLate(): Promise<void> {
    const createdBefore = new Date(clock() - times.senderTimeoutMs);
    const late = await deleteLateEntries(pool, senderId, listInProgress(), createdBefore);
    if (late > 0)
      log.warn(
        { mails: late },
        'Deleted mails that were committed after their requests had failed; they were not sent',
      );
  }

  const onError = (error: unknown) => {
    log.warn({ err: error }, 'Journal upkeep failed; will retry');
  };
  const task = createPeriodicTask({
    intervalMs: times.heartbeatMs,
    onError,
    async run() {
      if (performance.now() >= expireSendersFrom) await abandonMailsOfDeadSenders();
      await deleteLate();
      await eraseMarked(pool);
      await expireKeys(pool, new Date(clock() - times.keyLifetimeMs));
      await deleteUnsent(pool, new Date(clock() - unsentKeptDays * DAY_MS));
      await expireContents(pool, new Date(clock() - unsentKeptDays * DAY_MS));
      if (recordsKeptDays > 0) await deleteOld(pool, firstIdAt(clock() - recordsKeptDays * DAY_MS));
    },
  });

  return {
    /**
     * Starts a run. It must follow an accepted heartbeat: whether other senders are dead can be told only while the
     * database accepts heartbeats.
     */
    wake: task.wake,

    /** Runs once, and resolves when it has ended. Never rejects. */
    run: (): Promise<void> => task.run().catch(onError),
    stop: task.stop,

    /** Considers no sender dead before this time of `performance.now()`. */
    spareSendersUntil(time: number): void {
      expireSendersFrom = time;
    },
  };
}
