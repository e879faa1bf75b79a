import { setTimeout as delay } from 'node:timers/promises';
import {
  type Clock,
  createBatcher,
  createPeriodicTask,
  dependencyUnavailable,
  type Logger,
} from '@platform/service-kit';
import type pg from 'pg';
import {
  type AttemptEnd,
  type Priority,
  priorities,
  type MailClaim,
  type MailStatus,
  type NewMail,
} from './mail.js';
import {
  type AttachmentPiece,
  CODE_LEASE_MS,
  endAttempts,
  findByKeys,
  findStatus,
  insertMails,
  insertMailWithAttachments,
  insertResend,
  type MailKey,
  markDataBegun,
  renewLeases,
} from './queue.sql.js';

const RETRY_AFTER_MS = 500;
/** Rows that arrive during a write form the next batch, because few large commits cost less than many small ones. */
const ONE_AT_A_TIME = { maxBatch: 200, maxInFlight: 1 };

/** Another replica has the mail, because the lease of this one had expired. Nothing of it may be sent. */
class ClaimLost extends Error {
  override readonly name = 'ClaimLost';
}

/** This replica may claim a mail again while the end of an earlier claim, whose lease expired, is not stored yet. */
const toKey = ({ id, claim }: MailClaim): string => `${id} ${claim}`;

interface HeldClaim extends MailClaim {
  readonly priority: Priority;
}

const throwUnavailable = (error: unknown): never => {
  throw dependencyUnavailable('database', error);
};

/** Returns the last claim of each mail, by id: no earlier one can be valid. */
function toLast<C extends MailClaim>(claims: Iterable<C>): ReadonlyMap<string, C> {
  const last = new Map<string, C>();
  for (const one of claims) if ((last.get(one.id)?.claim ?? 0) <= one.claim) last.set(one.id, one);
  return last;
}

/** Reads and writes the rows of mails. Statements are shared by concurrent mails. */
export function createJournal(deps: {
  /** For reads, and for mails with large attachments, which take long to store. */
  readonly pool: pg.Pool;
  readonly journalPool: pg.Pool;
  readonly clock: Clock;
  readonly log: Logger;
  readonly leaseMs: number;
}) {
  const { pool, journalPool, clock, log, leaseMs } = deps;
  const held = new Map<string, HeldClaim>();
  /** Ends that are not stored yet. */
  const unstored = new Map<string, AttemptEnd>();
  const stopping = new AbortController();

  const createInsert = () =>
    createBatcher({
      ...ONE_AT_A_TIME,
      toKey: ({ id }: NewMail) => id,
      async load(mails) {
        const written = await insertMails(journalPool, mails, leaseMs);
        return mails.map(({ id }) => written.get(id));
      },
    });
  const insertOther = createInsert();
  /** A code doesn't wait for a batch of other mails, whose requests may be large. */
  const insertCode = createInsert();
  const beginBatched = createBatcher({
    ...ONE_AT_A_TIME,
    toKey,
    async load(claims: readonly MailClaim[]) {
      const last = toLast(claims);
      const valid = await markDataBegun(journalPool, [...last.values()], leaseMs);
      return claims.map((one) => last.get(one.id) === one && valid.has(one.id));
    },
  });
  const endBatched = createBatcher({
    ...ONE_AT_A_TIME,
    toKey,
    async load(ends: readonly AttemptEnd[]) {
      const last = toLast(ends);
      const valid = await endAttempts(journalPool, [...last.values()], new Date(clock()));
      return ends.map((one) => last.get(one.id) === one && valid.has(one.id));
    },
  });
  const findBatched = createBatcher({
    toKey: ({ orgId, key }: MailKey) => `${orgId} ${key}`,
    load: (keys) => findByKeys(pool, keys),
    maxBatch: 200,
    maxInFlight: 2,
  });

  async function retryEnd(end: AttemptEnd): Promise<void> {
    while (!stopping.signal.aborted) {
      await delay(RETRY_AFTER_MS, undefined, { ref: false });
      try {
        // By itself: one outcome that can't be stored would hold up all others of its batch.
        await endAttempts(journalPool, [end], new Date(clock()));
        unstored.delete(toKey(end));
        held.delete(toKey(end));
        return;
      } catch (error) {
        log.error({ err: error, mail: end.id }, 'Failed to store the outcome of a mail; will retry');
      }
    }
  }

  const createRenewal = (ofCodes: boolean, intervalMs: number) =>
    createPeriodicTask({
      intervalMs,
      run: async () => {
        const claims = [...toLast(held.values()).values()];
        const renewed = claims.filter(({ priority }) => (priority === priorities.code) === ofCodes);
        if (renewed.length > 0) await renewLeases(journalPool, renewed, leaseMs);
      },
      onError: (error) => {
        log.warn({ err: error }, 'Failed to renew the leases of mails; will retry');
      },
    });
  const renewals = [createRenewal(true, CODE_LEASE_MS / 3), createRenewal(false, leaseMs / 3)];
  for (const renewal of renewals) renewal.start();

  return {
    /**
     * Stores a mail. With `callerWaits`, it is claimed by this replica.
     *
     * @returns the suppressed recipients, or undefined when the idempotency key is taken, or when the mail to resend can't
     *   be resent any more.
     * @throws AppError 503 when it can't be stored.
     */
    async accept(mail: NewMail): Promise<readonly string[] | undefined> {
      const first = { id: mail.id, claim: 1, priority: mail.priority };
      if (mail.callerWaits) held.set(toKey(first), first);
      let suppressed: readonly string[] | undefined;
      try {
        const { originalMailId } = mail;
        suppressed =
          originalMailId === undefined
            ? await (mail.priority === priorities.code ? insertCode : insertOther)(mail)
            : await insertResend(journalPool, mail, originalMailId, leaseMs);
      } catch (error) {
        return throwUnavailable(error);
      } finally {
        if (!suppressed) held.delete(toKey(first));
      }
      return suppressed;
    },

    /** Stores a queued mail with its attachments. @throws and returns as `accept` does. */
    acceptWithAttachments: (
      mail: NewMail,
      pieces: AsyncIterable<AttachmentPiece>,
    ): Promise<readonly string[] | undefined> =>
      insertMailWithAttachments(pool, mail, pieces).catch(throwUnavailable),

    /** Keeps the lease of a claimed mail from expiring until its end is stored. */
    hold({ id, claim, priority }: HeldClaim): void {
      held.set(toKey({ id, claim }), { id, claim, priority });
    },

    /** Lets the lease of a claimed mail expire, because its end will never be known. */
    release(claim: MailClaim): void {
      held.delete(toKey(claim));
    },

    /** Stores that the message is being handed over. @throws ClaimLost, or when it can't be stored: then nothing may be sent. */
    async begin(claim: MailClaim): Promise<void> {
      if (!(await beginBatched(claim))) throw new ClaimLost('The lease of the mail had expired');
    },

    /** Resolves after the first try to store the end. It is retried until it is stored, since a mail can't be taken back. */
    async end(end: AttemptEnd): Promise<void> {
      try {
        await endBatched(end);
        held.delete(toKey(end));
      } catch (error) {
        log.error({ err: error, mail: end.id }, 'Failed to store the outcome of a mail; will retry');
        unstored.set(toKey(end), end);
        void retryEnd(end);
      }
    },

    /** @throws AppError 503 when the database can't be read. */
    findByKey: (orgId: string, key: string): Promise<MailStatus | undefined> =>
      findBatched({ orgId, key }).catch(throwUnavailable),

    /** @throws AppError 503 when the database can't be read. */
    find: (id: string): Promise<MailStatus | undefined> => findStatus(pool, id).catch(throwUnavailable),

    /** The number of outcomes that are not stored yet. */
    get backlog(): number {
      return unstored.size;
    },

    /** Tries once more to store what is not stored yet. What still isn't becomes unknown when its lease expires. */
    async stop(): Promise<void> {
      stopping.abort();
      await Promise.all(renewals.map((renewal) => renewal.stop()));
      await Promise.allSettled(
        [...unstored.values()].map((end) => endAttempts(journalPool, [end], new Date(clock()))),
      );
    },
  };
}

export type Journal = ReturnType<typeof createJournal>;
