import { setTimeout as delay } from 'node:timers/promises';
import {
  type Clock,
  createBatcher,
  createPeriodicTask,
  DAY_MS,
  dependencyUnavailable,
  type Logger,
  notApplied,
} from '@platform/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { eraseMarked } from './erasure.queries.js';
import type { EarlierMail, JournalEntry, MailOutcome } from './entry.js';
import {
  abandonEntries,
  deleteUnsent,
  expireContents,
  deleteOld,
  type EarlierKey,
  findByKeys,
  expireKeys,
  insertEntries,
  deregisterSender,
  recordHeartbeat,
  deleteLateEntries,
} from './queries.js';
import { createOutcomeWriter } from './outcome-writer.js';

/*
 * The life of a mail:
 *
 *   (none)  --recordPending--> pending                   written before the SMTP server is contacted
 *   pending --recordPending had failed--> (none)         committed after its request had failed with 503; never sent
 *   pending --recordOutcome--> sent | failed | unknown
 *   pending --heartbeats of its sender stop--> unknown   the process may have died before or after sending
 *   unknown --recordOutcome--> sent | failed | unknown   the process was alive but couldn't reach the database
 */
export interface Journal {
  /**
   * Stores a mail as pending. Nothing may be sent before this has returned true.
   *
   * @returns false when the idempotency key is taken, or when a recipient of the mail to resend has been erased.
   * @throws AppError 503 when the entry can't be stored.
   */
  recordPending(entry: JournalEntry): Promise<boolean>;
  /** Never rejects: an outcome that can't be stored now stays queued, since the mail itself can't be taken back. */
  recordOutcome(outcome: MailOutcome): Promise<void>;
  /** @throws AppError 503 when the database can't be read. */
  findByKey(orgId: string, key: string): Promise<EarlierMail | undefined>;
  /** Whether mails can be stored, and therefore sent: true from the first heartbeat until `stop`. */
  readonly isUp: boolean;
  /** The number of outcomes that are not stored yet. */
  readonly backlog: number;
  /** Resolves after the first heartbeat and the upkeep that follows it; retries while the database is unavailable. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface JournalTimes {
  readonly heartbeatMs: number;
  /** A sender without a heartbeat for longer than this is considered dead. */
  readonly senderTimeoutMs: number;
  readonly keyLifetimeMs: number;
}

const START_RETRY_MS = 500;

/** @returns the smallest UUIDv7 with this timestamp. */
export const firstIdAt = (msecs: number): string =>
  uuidv7({ msecs: Math.max(0, msecs), seq: 0, random: new Uint8Array(16) });

const standardTimes: JournalTimes = { heartbeatMs: 2_000, senderTimeoutMs: 10_000, keyLifetimeMs: DAY_MS };

export function createJournal(deps: {
  readonly pool: pg.Pool;
  /** Connections for heartbeats only: a heartbeat that waited for other statements could come too late. */
  readonly heartbeatPool: pg.Pool;
  readonly clock: Clock;
  readonly log: Logger;
  /** The retention of mails that failed or are unknown, and of the contents of all mails. It must not be shorter than that of idempotency keys. */
  readonly unsentKeptDays: number;
  /** The retention of all mails; 0 keeps them for ever. */
  readonly recordsKeptDays: number;
  readonly times?: JournalTimes;
}): Journal {
  const { pool, heartbeatPool, clock, log, unsentKeptDays, recordsKeptDays, times = standardTimes } = deps;
  const senderId = uuidv7();
  const outcomeWriter = createOutcomeWriter(deps);
  /** The ids of this process's mails, from before the entry is written until the first attempt to store the outcome. */
  const inProgress = new Set<string>();
  let isUp = false;
  const stopping = new AbortController();

  const insertBatched = createBatcher({
    toKey: (entry: JournalEntry) => entry.id,
    async load(entries) {
      const written = await insertEntries(pool, senderId, entries);
      return entries.map(({ id }) => written.has(id));
    },
    maxBatch: 200,
    // Entries that arrive during a write form the next batch, because few large commits cost less than many small ones.
    maxInFlight: 1,
  });

  const findBatched = createBatcher({
    toKey: ({ orgId, key }: EarlierKey) => `${orgId} ${key}`,
    load: (keys) => findByKeys(pool, keys),
    maxBatch: 200,
    maxInFlight: 2,
  });

  async function recordPending(entry: JournalEntry): Promise<boolean> {
    if (!isUp) throw notApplied(dependencyUnavailable('mail runtime'));
    inProgress.add(entry.id);
    let isWritten = false;
    try {
      isWritten = await insertBatched(entry);
    } catch (error) {
      throw notApplied(dependencyUnavailable('database', error));
    } finally {
      if (!isWritten) inProgress.delete(entry.id);
    }
    return isWritten;
  }

  async function recordOutcome(outcome: MailOutcome): Promise<void> {
    await outcomeWriter.add(outcome);
    inProgress.delete(outcome.id);
  }

  /** Leaves recent entries alone: one that is recorded while this statement waits isn't in its list of ids. */
  const deleteLate = (): Promise<number> =>
    deleteLateEntries(
      pool,
      senderId,
      [...inProgress, ...outcomeWriter.waitingIds()],
      new Date(clock() - times.senderTimeoutMs),
    );

  async function abandonMailsOfDeadSenders(): Promise<void> {
    const abandoned = await abandonEntries(pool, times.senderTimeoutMs);
    if (abandoned > 0)
      log.warn({ mails: abandoned }, 'Marked mails of dead senders as unknown; they may have been sent');
  }

  let lastHeartbeatAt = performance.now();
  let expireSendersFrom = 0;
  /** Upkeep isn't waited for: a sender whose heartbeats waited behind slow statements would be considered dead. */
  async function sendHeartbeat(): Promise<void> {
    await recordHeartbeat(heartbeatPool, senderId);
    const now = performance.now();
    // If the database accepted none of our heartbeats, it accepted nobody else's: give the other senders time for one.
    if (now - lastHeartbeatAt > times.senderTimeoutMs / 2) expireSendersFrom = now + times.senderTimeoutMs;
    lastHeartbeatAt = now;
    // The first upkeep is part of the start.
    if (isUp) upkeep.wake();
  }

  /** Must follow an accepted heartbeat: whether other senders are dead can be told only while the database accepts heartbeats. */
  async function runUpkeep(): Promise<void> {
    if (performance.now() >= expireSendersFrom) await abandonMailsOfDeadSenders();
    const late = await deleteLate();
    if (late > 0)
      log.warn(
        { mails: late },
        'Deleted mails that were committed after their requests had failed; they were not sent',
      );
    await eraseMarked(pool);
    await expireKeys(pool, new Date(clock() - times.keyLifetimeMs));
    await deleteUnsent(pool, new Date(clock() - unsentKeptDays * DAY_MS));
    await expireContents(pool, new Date(clock() - unsentKeptDays * DAY_MS));
    if (recordsKeptDays > 0) await deleteOld(pool, firstIdAt(clock() - recordsKeptDays * DAY_MS));
  }

  const reportTo = (message: string) => (error: unknown) => {
    log.warn({ err: error }, message);
  };
  const reportUpkeep = reportTo('Journal upkeep failed; will retry');
  const reportHeartbeat = reportTo('Heartbeat of the journal failed; will retry');
  const upkeep = createPeriodicTask({
    intervalMs: times.heartbeatMs,
    run: runUpkeep,
    onError: reportUpkeep,
  });
  const heartbeat = createPeriodicTask({
    intervalMs: times.heartbeatMs,
    run: sendHeartbeat,
    onError: reportHeartbeat,
  });

  return {
    recordPending,
    recordOutcome,
    findByKey: (orgId, key) =>
      findBatched({ orgId, key }).catch((error: unknown) => {
        throw dependencyUnavailable('database', error);
      }),
    get backlog() {
      return outcomeWriter.backlog;
    },
    get isUp() {
      return isUp;
    },
    async start() {
      // Nothing is sent before the row of this sender exists: without it, no process would notice that this one had died.
      for (let isAccepted = false; !isAccepted && !stopping.signal.aborted;) {
        isAccepted = await heartbeat.run().then(
          () => true,
          (error: unknown) => {
            reportHeartbeat(error);
            return false;
          },
        );
        if (!isAccepted) await delay(START_RETRY_MS, undefined, { ref: false });
      }
      if (stopping.signal.aborted) return;
      isUp = true;
      heartbeat.start();
      await upkeep.run().catch(reportUpkeep);
    },
    async stop() {
      isUp = false;
      stopping.abort();
      // The upkeep isn't waited for: it may take longer than the shutdown has.
      void upkeep.stop();
      // A heartbeat that came later would register the sender again.
      await Promise.all([outcomeWriter.stop(), heartbeat.stop()]);
      await deregisterSender(pool, senderId).catch((error: unknown) => {
        log.warn({ err: error, senderId }, 'Failed to deregister the sender; another process will remove it');
      });
    },
  };
}
