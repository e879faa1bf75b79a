import { coalesce } from '@platform/auth';
import { type Clock, dependencyUnavailable, type Logger, nothingDone } from '@platform/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { EarlierMail, JournalEntry, Settlement } from './entry.js';
import {
  abandonEntries,
  deleteUnsent,
  findByKey,
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
  /** @returns false when the idempotency key is taken. @throws AppError 503: then nothing may be sent. */
  begin(entry: JournalEntry): Promise<boolean>;
  /** Never rejects: a mail that was sent is sent, whether or not it can be written down now. */
  settle(settlement: Settlement): Promise<void>;
  /** @throws AppError 503. */
  findByKey(orgId: string, key: string): Promise<EarlierMail | undefined>;
  /** Outcomes that aren't stored yet. */
  readonly backlog: number;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface JournalTimes {
  readonly heartbeatMs: number;
  /** A sender that was silent for longer is taken for dead. */
  readonly silentMs: number;
  readonly keyLifetimeMs: number;
}

const DAY_MS = 24 * 3_600_000;
const standardTimes: JournalTimes = { heartbeatMs: 2_000, silentMs: 10_000, keyLifetimeMs: DAY_MS };

export function createJournal(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly log: Logger;
  /** How long mails are kept that failed or are unknown: not less than their idempotency keys. */
  readonly unsentKeptDays: number;
  readonly times?: JournalTimes;
}): Journal {
  const { pool, clock, log, unsentKeptDays, times = standardTimes } = deps;
  const senderId = uuidv7();
  const settlements = createSettlements(deps);
  /** From before an entry is written until its outcome is. */
  const underWay = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  const write = coalesce({
    keyOf: (entry: JournalEntry) => entry.id,
    async ask(entries) {
      const written = await insertEntries(pool, senderId, entries);
      return entries.map(({ id }) => written.has(id));
    },
    batchMax: 200,
    // Those that come meanwhile make the next batch: a few large commits cost less than many small ones.
    inFlightMax: 1,
  });

  async function begin(entry: JournalEntry): Promise<boolean> {
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
  async function beat(): Promise<void> {
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
      await forgetKeys(pool, new Date(clock() - times.keyLifetimeMs));
      await deleteUnsent(pool, new Date(clock() - unsentKeptDays * DAY_MS));
    } catch (error) {
      log.warn({ err: error }, 'journal upkeep failed; it is tried again');
    }
  }

  return {
    begin,
    settle,
    findByKey: (orgId, key) =>
      findByKey(pool, orgId, key).catch((error: unknown) => {
        throw dependencyUnavailable('database', error);
      }),
    get backlog() {
      return settlements.backlog;
    },
    async start() {
      await beat();
      let beating = Promise.resolve();
      timer = setInterval(() => {
        beating = beating.then(beat);
      }, times.heartbeatMs).unref();
    },
    async stop() {
      clearInterval(timer);
      await settlements.stop();
      await removeSender(pool, senderId).catch((error: unknown) => {
        log.warn({ err: error }, 'sender not signed off');
      });
    },
  };
}
