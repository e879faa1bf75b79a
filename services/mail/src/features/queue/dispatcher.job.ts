import { setTimeout as delay } from 'node:timers/promises';
import { type Clock, createPeriodicTask, type Logger } from '@platform/service-kit';
import type pg from 'pg';
import { isServerSilent } from '../delivery/outcome.js';
import type { OnData } from '../delivery/pools.js';
import { toUncounted } from './attempt-end.js';
import type { Journal } from './journal.js';
import { type AttemptEnd, type ClaimedMail, priorities } from './mail.js';
import { claimMails, FIRST_ORGANISATION, findDueOrganisations } from './queue.sql.js';
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
  const inFlight = new Set<InFlight>();
  let attempt: AttemptMail | undefined;
  let isStopping = false;

  const slots = createSlots({
    perOrganisation: deps.connectionsPerOrganisation,
    maxSilent: Math.ceil(maxInFlight * SILENT_PART),
    clock,
    onFree: () => {
      claiming.wake();
    },
  });

  /** Returns a mail to the queue whose attempt was abandoned before the message was begun. */
  async function release(mail: ClaimedMail, { isBegun }: InFlight): Promise<void> {
    if (isBegun) journal.release(mail);
    else await journal.end(toUncounted(mail, clock() + RELEASED_MS));
  }

  /** An attempt that ended before a server was asked says nothing about it. */
  function noteAnswer(orgId: string, { state, problem }: AttemptEnd): void {
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
      noteAnswer(mail.orgId, end);
      await journal.end(end);
    } catch (error) {
      log.error({ err: error, mail: mail.id }, 'Failed to process a mail; will retry');
      await release(mail, state);
    } finally {
      inFlight.delete(state);
      slots.release(mail.orgId, mail.priority);
    }
  }

  /**
   * @param max - how many mails may be in flight then.
   * @param perOrganisation - the most mails of one organisation in progress, besides codes.
   * @returns the organisations of the claimed mails besides codes, and whether no more mails could be claimed.
   */
  async function claimUpTo(
    max: number,
    perOrganisation: number,
    organisations: readonly string[],
  ): Promise<{ readonly claimed: ReadonlySet<string>; readonly isFull: boolean }> {
    const limit = Math.min(max - inFlight.size, MAX_CLAIMED);
    if (limit <= 0 || isStopping || !attempt) return { claimed: new Set(), isFull: true };
    if (organisations.length === 0) return { claimed: new Set(), isFull: false };
    const { perOrganisationWithCodes } = slots;
    const limits = { organisations, limit, held: slots.held(), perOrganisation, perOrganisationWithCodes };
    const claimed = await claimMails(pool, new Date(clock()), leaseMs, limits);
    if (claimed.length === MAX_CLAIMED) claiming.wake();
    for (const mail of claimed) {
      slots.take(mail.orgId, mail.priority);
      journal.hold(mail);
      const state: InFlight = { abort: new AbortController(), isBegun: false, ended: Promise.resolve() };
      inFlight.add(state);
      state.ended = run(mail, state, attempt);
    }
    const others = claimed.filter(({ priority }) => priority !== priorities.code);
    return { claimed: new Set(others.map(({ orgId }) => orgId)), isFull: claimed.length === limit };
  }

  const shared = Math.ceil(maxInFlight * SHARED_PART);
  /** The last organisation that had its turn while many mails were due. */
  let last = FIRST_ORGANISATION;

  /** @returns whether there may be due mails of further organisations, and room for them. */
  async function claimNext(): Promise<boolean> {
    const found = await findDueOrganisations(pool, new Date(clock()), last);
    const ofCodes = found.isLong ? found.ofCodes : found.all;
    const all = found.isLong ? [...new Set([...found.ofCodes, ...found.window])] : found.all;
    const { claimed, isFull } = await claimUpTo(shared, slots.perOrganisation, all);
    if (inFlight.size >= shared) await claimUpTo(maxInFlight, 0, ofCodes);
    if (!found.isLong) return false;
    // Whoever follows the last claimed mail has the next turn.
    if (isFull) last = found.window.findLast((orgId) => claimed.has(orgId)) ?? last;
    else last = found.isEnd ? FIRST_ORGANISATION : (found.window.at(-1) ?? FIRST_ORGANISATION);
    return !isFull;
  }

  /** Goes once around the organisations of the queue, or until no more mails can be claimed. */
  async function claim(): Promise<void> {
    const start = last;
    let isWrapped = start === FIRST_ORGANISATION;
    while (await claimNext()) {
      if (last === FIRST_ORGANISATION) {
        if (isWrapped) return;
        isWrapped = true;
      } else if (isWrapped && last >= start && start !== FIRST_ORGANISATION) return;
    }
  }

  const claiming = createPeriodicTask({
    intervalMs: POLL_MS,
    run: claim,
    onError: (error) => {
      log.warn({ err: error }, 'Failed to claim mails; will retry');
    },
  });

  return {
    slots,
    /** Claims due mails now, or right after the claim in progress. */
    wake: claiming.wake,

    start(attemptMail: AttemptMail): void {
      attempt = attemptMail;
      claiming.start();
      claiming.wake();
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
