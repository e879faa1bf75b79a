import { setTimeout as delay } from 'node:timers/promises';
import {
  type Clock,
  createPeriodicTask,
  dependencyUnavailable,
  type Logger,
  notApplied,
} from '@platform/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { EarlierMail, JournalEntry, MailOutcome } from './entry.js';
import { createEntryBatches } from './entry-batches.js';
import { deregisterSender, recordHeartbeat } from './queries.js';
import { createUpkeep, type JournalTimes, standardTimes } from './upkeep.js';
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

const START_RETRY_MS = 500;

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
}) {
  const { pool, heartbeatPool, log, times = standardTimes } = deps;
  const senderId = uuidv7();
  const outcomeWriter = createOutcomeWriter(deps);
  /** The ids of this process's mails, from before the entry is written until the first attempt to store the outcome. */
  const inProgress = new Set<string>();
  let isUp = false;
  const stopping = new AbortController();

  const { insertBatched, findBatched } = createEntryBatches(pool, senderId);

  /**
   * Stores a mail as pending. Nothing may be sent before this has returned true.
   *
   * @returns false when the idempotency key is taken, or when a recipient of the mail to resend has been erased.
   * @throws AppError 503 when the entry can't be stored.
   */
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

  /** Never rejects: an outcome that can't be stored now stays queued, since the mail itself can't be taken back. */
  async function recordOutcome(outcome: MailOutcome): Promise<void> {
    await outcomeWriter.add(outcome);
    inProgress.delete(outcome.id);
  }

  let lastHeartbeatAt = performance.now();
  /** Upkeep isn't waited for: a sender whose heartbeats waited behind slow statements would be considered dead. */
  async function sendHeartbeat(): Promise<void> {
    await recordHeartbeat(heartbeatPool, senderId);
    const now = performance.now();
    // If the database accepted none of our heartbeats, it accepted nobody else's: give the other senders time for one.
    if (now - lastHeartbeatAt > times.senderTimeoutMs / 2)
      upkeep.spareSendersUntil(now + times.senderTimeoutMs);
    lastHeartbeatAt = now;
    // The first upkeep is part of the start.
    if (isUp) upkeep.wake();
  }

  const reportHeartbeat = (error: unknown) => {
    log.warn({ err: error }, 'Heartbeat of the journal failed; will retry');
  };
  const upkeep = createUpkeep({
    ...deps,
    senderId,
    times,
    listInProgress: () => [...inProgress, ...outcomeWriter.waitingIds()],
  });
  const heartbeat = createPeriodicTask({
    intervalMs: times.heartbeatMs,
    run: sendHeartbeat,
    onError: reportHeartbeat,
  });

  return {
    recordPending,
    recordOutcome,

    /** @throws AppError 503 when the database can't be read. */
    findByKey: (orgId: string, key: string): Promise<EarlierMail | undefined> =>
      findBatched({ orgId, key }).catch((error: unknown) => {
        throw dependencyUnavailable('database', error);
      }),

    /** The number of outcomes that are not stored yet. */
    get backlog(): number {
      return outcomeWriter.backlog;
    },

    /** Whether mails can be stored, and therefore sent: true from the first heartbeat until `stop`. */
    get isUp(): boolean {
      return isUp;
    },

    /** Resolves after the first heartbeat and the upkeep that follows it; retries while the database is unavailable. */
    async start(): Promise<void> {
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
      await upkeep.run();
    },

    async stop(): Promise<void> {
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

export type Journal = ReturnType<typeof createJournal>;
