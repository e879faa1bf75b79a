import { setTimeout as delay } from 'node:timers/promises';
import { type Clock, createPeriodicTask, type Logger } from '@platform/service-kit';
import type pg from 'pg';
import { isServerSilent } from '../delivery/outcome.js';
import type { OnData } from '../delivery/pools.js';
import { toUncounted } from './attempt-end.js';
import type { Journal } from './journal.js';
import { type AttemptEnd, type ClaimedMail, priorities } from './mail.js';
import { claimMails, FIRST_ORGANISATION } from './claim.sql.js';
import { createSlots } from './slots.js';

/** Makes one attempt to send a claimed mail. It doesn't reject. */
export type AttemptMail = (
  mail: ClaimedMail,
  options: { readonly signal: AbortSignal; readonly onData: OnData },
) => Promise<AttemptEnd>;

interface InFlight {
  readonly abort: AbortController;
  isBegun: boolean;
  ended: Promise<void>;
}

/** Mails that another replica queued, or that are due again, start at most this late. */
const POLL_MS = 1_000;
/** The part of the mails in flight that may be anything; only codes get the rest, so that slow servers do not delay them. */
const SHARED_PART = 0.8;
/** The part of the mails in flight that may wait for servers that do not answer. */
const SILENT_PART = 0.4;
/** A claim reads the requests of its mails, each of up to 350 kB. The next claim, which may find a code, waits for it. */
const MAX_CLAIMED = 50;
/** The pause after an attempt for which something could not be read, such as the brand. */
const RELEASED_MS = 1_000;

/** Claims queued mails and sends them, as long as there are free connections. */
export function createDispatcher(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly log: Logger;
  readonly journal: Journal;
  readonly leaseMs: number;
  readonly connectionsPerOrganisation: number;
  /** The most queued mails that this replica sends at once. */
  readonly maxInFlight: number;
  /** How long the shutdown waits for messages that are being handed over. */
  readonly graceMs: number;
}) {
  const { pool, clock, log, journal, leaseMs, maxInFlight } = deps;
  /** The most mails in flight, besides codes. */
  const shared = Math.ceil(maxInFlight * SHARED_PART);
  const inFlight = new Set<InFlight>();
  let attempt: AttemptMail | undefined;
  let isStopping = false;
  let isClaiming = false;

  const slots = createSlots({
    perOrganisation: deps.connectionsPerOrganisation,
    maxSilent: Math.ceil(maxInFlight * SILENT_PART),
    clock,
    onFreed: (hasRoomAgain) => {
      // Mails are left in the queue by organisations without room, by a replica without room, and by a claim in progress, which
      // does not know of the slot.
      if (hasRoomAgain || isClaiming || inFlight.size >= shared) wake();
    },
  });

  /** Returns a mail to the queue whose attempt was abandoned before the message was begun. */
  async function release(mail: ClaimedMail, { isBegun }: InFlight): Promise<void> {
    if (isBegun) journal.release(mail);
    else await journal.end(toUncounted(mail, clock() + RELEASED_MS));
  }

  /** An attempt that ended before a server was asked says nothing about it. */
  function recordAnswer(orgId: string, { state, problem }: AttemptEnd): void {
    if (state === 'sent' || problem?.reply !== undefined) slots.setAnswering(orgId, true);
    else if (problem && isServerSilent(problem)) slots.setAnswering(orgId, false);
  }

  async function run(mail: ClaimedMail, state: InFlight, attemptMail: AttemptMail): Promise<void> {
    try {
      const end = await attemptMail(mail, {
        signal: state.abort.signal,
        onData: async () => {
          state.isBegun = true;
          await journal.begin(mail);
        },
      });
      recordAnswer(mail.orgId, end);
      await journal.end(end);
    } catch (error) {
      log.error({ err: error, mail: mail.id }, 'Failed to process a mail; will retry');
      await release(mail, state);
    } finally {
      slots.release(mail.orgId, mail.priority);
      inFlight.delete(state);
    }
  }

  /** The organisation that had the last turn. */
  let lastTurn = FIRST_ORGANISATION;

  /** Claims as many mails as this replica may start, but no large number at once. @returns whether there may be more of them. */
  async function claimNext(attemptMail: AttemptMail): Promise<boolean> {
    const limit = Math.min(maxInFlight - inFlight.size, MAX_CLAIMED);
    if (limit <= 0 || isStopping) return false;
    const claimed = await claimMails(pool, new Date(clock()), leaseMs, {
      limit,
      limitOfOthers: Math.max(0, Math.min(shared - inFlight.size, limit)),
      after: lastTurn,
      defaultRoom: slots.full,
      rooms: slots.getRooms(),
    });
    for (const mail of claimed) {
      slots.occupy(mail.orgId, mail.priority);
      journal.hold(mail);
      const state: InFlight = { abort: new AbortController(), isBegun: false, ended: Promise.resolve() };
      inFlight.add(state);
      state.ended = run(mail, state, attemptMail);
    }
    lastTurn = claimed.findLast(({ priority }) => priority !== priorities.code)?.orgId ?? lastTurn;
    return claimed.length === limit;
  }

  async function claim(): Promise<void> {
    if (!attempt) return;
    isClaiming = true;
    try {
      while (await claimNext(attempt));
    } finally {
      isClaiming = false;
    }
  }

  const claiming = createPeriodicTask({
    intervalMs: POLL_MS,
    run: claim,
    onError: (error) => {
      log.warn({ err: error }, 'Failed to claim mails; will retry');
    },
  });

  let isWoken = false;
  /** Claims due mails in a moment: one claim serves all mails that are queued, and all that end, in one turn of the event loop. */
  function wake(): void {
    if (isWoken) return;
    isWoken = true;
    setImmediate(() => {
      isWoken = false;
      claiming.wake();
    });
  }

  return {
    slots,
    wake,

    start(attemptMail: AttemptMail): void {
      attempt = attemptMail;
      claiming.start();
      wake();
    },

    /** Returns what has not begun to the queue, and waits for the rest; what takes too long is aborted, and unknown. */
    async stop(): Promise<void> {
      isStopping = true;
      await claiming.stop();
      for (const { abort, isBegun } of inFlight) if (!isBegun) abort.abort();
      const all = Promise.allSettled([...inFlight].map(({ ended }) => ended));
      const timer = new AbortController();
      await Promise.race([
        all,
        delay(deps.graceMs, undefined, { signal: timer.signal }).catch(() => undefined),
      ]);
      timer.abort();
      for (const { abort } of inFlight) abort.abort();
      await all;
    },
  };
}

export type Dispatcher = ReturnType<typeof createDispatcher>;
