import { setTimeout as delay } from 'node:timers/promises';
import { coalesce } from '@platform/auth';
import { type Clock, dependencyUnavailable, type Logger, nothingDone } from '@platform/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { eraseMarked } from '../records/erasure.queries.js';
import type { EarlierMail, JournalEntry, MailOutcome } from './entry.js';
import {
  abandonEntries,
  deleteUnsent,
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
 *   (none)  --recordPending--> pending   written before the SMTP server hears of it
 *   pending --recordPending had failed already--> (none)   committed too late: its request was answered 503
 *   pending --recordOutcome--> sent | failed | unknown
 *   pending --its sender falls silent--> unknown   killed in between: nobody can tell
 *   unknown --recordOutcome--> sent | failed | unknown     the sender wasn't dead, it couldn't reach the database
 */
export interface Journal {
  /** @returns false when the idempotency key is taken, or the mail to repeat erased. @throws AppError 503: then nothing may be sent. */
  recordPending(entry: JournalEntry): Promise<boolean>;
  /** Never rejects: a mail that was sent is sent, whether or not it can be written down now. */
  recordOutcome(outcome: MailOutcome): Promise<void>;
  /** @throws AppError 503. */
  findByKey(orgId: string, key: string): Promise<EarlierMail | undefined>;
  /** Whether mails can be journalled, and so sent: from the first heartbeat on, until it is stopped. */
  readonly isUp: boolean;
  /** Outcomes that aren't stored yet. */
  readonly backlog: number;
  /** Resolves with the first heartbeat, however long the database is away. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface JournalTimes {
  readonly heartbeatMs: number;
  /** A sender that was silent for longer is taken for dead. */
  readonly senderTimeoutMs: number;
  readonly keyLifetimeMs: number;
}

const START_RETRY_MS = 500;
const DAY_MS = 24 * 3_600_000;

/** The least UUIDv7 of a time. */
export const firstIdAt = (msecs: number): string =>
  uuidv7({ msecs: Math.max(0, msecs), seq: 0, random: new Uint8Array(16) });

const standardTimes: JournalTimes = { heartbeatMs: 2_000, senderTimeoutMs: 10_000, keyLifetimeMs: DAY_MS };

export function createJournal(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly log: Logger;
  /** How long mails are kept that failed or are unknown: not less than their idempotency keys. */
  readonly unsentKeptDays: number;
  /** How long any mail is kept; 0: for ever. */
  readonly recordsKeptDays: number;
  readonly times?: JournalTimes;
}): Journal {
  const { pool, clock, log, unsentKeptDays, recordsKeptDays, times = standardTimes } = deps;
  const senderId = uuidv7();
  const outcomeWriter = createOutcomeWriter(deps);
  /** From before an entry is written until its outcome is. */
  const inProgress = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let isUp = false;
  const stopping = new AbortController();

  const write = coalesce({
    toKey: (entry: JournalEntry) => entry.id,
    async ask(entries) {
      const written = await insertEntries(pool, senderId, entries);
      return entries.map(({ id }) => written.has(id));
    },
    maxBatch: 200,
    // Those that come meanwhile make the next batch: a few large commits cost less than many small ones.
    maxInFlight: 1,
  });

  const find = coalesce({
    toKey: ({ orgId, key }: EarlierKey) => `${orgId} ${key}`,
    ask: (keys) => findByKeys(pool, keys),
    maxBatch: 200,
    maxInFlight: 2,
  });

  async function recordPending(entry: JournalEntry): Promise<boolean> {
    if (!isUp) throw nothingDone(dependencyUnavailable('mail runtime'));
    inProgress.add(entry.id);
    let isWritten = false;
    try {
      isWritten = await write(entry);
    } catch (error) {
      throw nothingDone(dependencyUnavailable('database', error));
    } finally {
      if (!isWritten) inProgress.delete(entry.id);
    }
    return isWritten;
  }

  async function recordOutcome(outcome: MailOutcome): Promise<void> {
    await outcomeWriter.add(outcome);
    inProgress.delete(outcome.id);
  }

  /** Only older ones than any that can come in meanwhile. */
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
      log.warn({ mails: abandoned }, 'mails of a sender that died: whether they went out is unknown');
  }

  let lastUpkeepAt = performance.now();
  let expireSendersFrom = 0;
  /** @returns whether all of it was done. */
  async function runUpkeep(): Promise<boolean> {
    try {
      await recordHeartbeat(pool, senderId);
      const now = performance.now();
      // A database that took no beat of ours for long took none of the others' either: they are given time for one.
      if (now - lastUpkeepAt > times.senderTimeoutMs / 2) expireSendersFrom = now + times.senderTimeoutMs;
      lastUpkeepAt = now;
      if (now >= expireSendersFrom) await abandonMailsOfDeadSenders();
      const late = await deleteLate();
      if (late > 0) log.warn({ mails: late }, 'mails that the database took too late: they were not sent');
      await eraseMarked(pool);
      await expireKeys(pool, new Date(clock() - times.keyLifetimeMs));
      await deleteUnsent(pool, new Date(clock() - unsentKeptDays * DAY_MS));
      if (recordsKeptDays > 0) await deleteOld(pool, firstIdAt(clock() - recordsKeptDays * DAY_MS));
      return true;
    } catch (error) {
      log.warn({ err: error }, 'journal upkeep failed; it is tried again');
      return false;
    }
  }

  return {
    recordPending,
    recordOutcome,
    findByKey: (orgId, key) =>
      find({ orgId, key }).catch((error: unknown) => {
        throw dependencyUnavailable('database', error);
      }),
    get backlog() {
      return outcomeWriter.backlog;
    },
    get isUp() {
      return isUp;
    },
    async start() {
      // Without its row, nobody would notice that this sender died: nothing is sent before.
      while (!stopping.signal.aborted && !(await runUpkeep()))
        await delay(START_RETRY_MS, undefined, { ref: false });
      isUp = !stopping.signal.aborted;
      let upkeep = Promise.resolve();
      timer = setInterval(() => {
        upkeep = upkeep.then(async () => void (await runUpkeep()));
      }, times.heartbeatMs).unref();
      if (stopping.signal.aborted) clearInterval(timer);
    },
    async stop() {
      isUp = false;
      stopping.abort();
      clearInterval(timer);
      await outcomeWriter.stop();
      await deregisterSender(pool, senderId).catch((error: unknown) => {
        log.warn({ err: error }, 'sender not signed off');
      });
    },
  };
}
