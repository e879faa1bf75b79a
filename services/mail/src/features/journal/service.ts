import { setTimeout as delay } from 'node:timers/promises';
import { coalesce } from '@platform/auth';
import { type Clock, dependencyUnavailable, type Logger, nothingDone } from '@platform/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { eraseMarked } from '../records/erasure.queries.js';
import type { EarlierMail, JournalEntry, Settlement } from './entry.js';
import {
  abandonEntries,
  deleteUnsent,
  deleteOld,
  type EarlierKey,
  findByKeys,
  forgetKeys,
  insertEntries,
  removeSender,
  touchSender,
  withdrawEntries,
} from './queries.js';
import { createSettlements } from './settlements.js';

/*
 * The life of a mail:
 *
 *   (none)  --begin--> pending   written before the SMTP server hears of it
 *   pending --begin had failed already--> (none)   committed too late: its request was answered 503
 *   pending --settle-> sent | failed | unknown
 *   pending --its sender falls silent--> unknown   killed in between: nobody can tell
 *   unknown --settle-> sent | failed | unknown     the sender wasn't dead, it couldn't reach the database
 */
export interface Journal {
  /** @returns false when the idempotency key is taken, or the mail to repeat erased. @throws AppError 503: then nothing may be sent. */
  begin(entry: JournalEntry): Promise<boolean>;
  /** Never rejects: a mail that was sent is sent, whether or not it can be written down now. */
  settle(settlement: Settlement): Promise<void>;
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
  readonly silentMs: number;
  readonly keyLifetimeMs: number;
}

const START_RETRY_MS = 500;
const DAY_MS = 24 * 3_600_000;

/** The least UUIDv7 of a time. */
export const firstIdAt = (msecs: number): string =>
  uuidv7({ msecs: Math.max(0, msecs), seq: 0, random: new Uint8Array(16) });

const standardTimes: JournalTimes = { heartbeatMs: 2_000, silentMs: 10_000, keyLifetimeMs: DAY_MS };

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
  const settlements = createSettlements(deps);
  /** From before an entry is written until its outcome is. */
  const underWay = new Set<string>();
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

  async function begin(entry: JournalEntry): Promise<boolean> {
    if (!isUp) throw nothingDone(dependencyUnavailable('mail runtime'));
    underWay.add(entry.id);
    let isWritten = false;
    try {
      isWritten = await write(entry);
    } catch (error) {
      throw nothingDone(dependencyUnavailable('database', error));
    } finally {
      if (!isWritten) underWay.delete(entry.id);
    }
    return isWritten;
  }

  async function settle(settlement: Settlement): Promise<void> {
    await settlements.add(settlement);
    underWay.delete(settlement.id);
  }

  /** Only older ones than any that can come in meanwhile. */
  const withdraw = (): Promise<number> =>
    withdrawEntries(
      pool,
      senderId,
      [...underWay, ...settlements.waitingIds()],
      new Date(clock() - times.silentMs),
    );

  async function abandonSilent(): Promise<void> {
    const abandoned = await abandonEntries(pool, times.silentMs);
    if (abandoned > 0)
      log.warn({ mails: abandoned }, 'mails of a sender that died: whether they went out is unknown');
  }

  let beatenAt = performance.now();
  let othersJudgedFrom = 0;
  /** @returns whether all of it was done. */
  async function beat(): Promise<boolean> {
    try {
      await touchSender(pool, senderId);
      const now = performance.now();
      // A database that took no beat of ours for long took none of the others' either: they are given time for one.
      if (now - beatenAt > times.silentMs / 2) othersJudgedFrom = now + times.silentMs;
      beatenAt = now;
      if (now >= othersJudgedFrom) await abandonSilent();
      const withdrawn = await withdraw();
      if (withdrawn > 0)
        log.warn({ mails: withdrawn }, 'mails that the database took too late: they were not sent');
      await eraseMarked(pool);
      await forgetKeys(pool, new Date(clock() - times.keyLifetimeMs));
      await deleteUnsent(pool, new Date(clock() - unsentKeptDays * DAY_MS));
      if (recordsKeptDays > 0) await deleteOld(pool, firstIdAt(clock() - recordsKeptDays * DAY_MS));
      return true;
    } catch (error) {
      log.warn({ err: error }, 'journal upkeep failed; it is tried again');
      return false;
    }
  }

  return {
    begin,
    settle,
    findByKey: (orgId, key) =>
      find({ orgId, key }).catch((error: unknown) => {
        throw dependencyUnavailable('database', error);
      }),
    get backlog() {
      return settlements.backlog;
    },
    get isUp() {
      return isUp;
    },
    async start() {
      // Without its row, nobody would notice that this sender died: nothing is sent before.
      while (!stopping.signal.aborted && !(await beat()))
        await delay(START_RETRY_MS, undefined, { ref: false });
      isUp = !stopping.signal.aborted;
      let beating = Promise.resolve();
      timer = setInterval(() => {
        beating = beating.then(async () => void (await beat()));
      }, times.heartbeatMs).unref();
      if (stopping.signal.aborted) clearInterval(timer);
    },
    async stop() {
      isUp = false;
      stopping.abort();
      clearInterval(timer);
      await settlements.stop();
      await removeSender(pool, senderId).catch((error: unknown) => {
        log.warn({ err: error }, 'sender not signed off');
      });
    },
  };
}
