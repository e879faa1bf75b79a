import type { Clock, Logger } from '@platform/service-kit';
import type { Prisma } from '../../resources.js';
import { type SendMail, type SendResult, IN_PROGRESS } from './mail-client.js';
import { isNotice, getRetryDelayMs } from './mail-kind.js';
import type { Prepare } from './prepare.js';
import {
  assignOrganisations,
  claimMails,
  deleteMail,
  giveUpMail,
  type Lane,
  lanes,
  type OutgoingMail,
  postponeMail,
} from './queries.js';
import { createSlots } from './slots.js';

/*
 * The life of a row:
 *
 *   due        nextAttemptAt has come; it has no message before the first attempt
 *   claimed    moved LEASE_MS ahead by whoever sends it
 *   gone       sent; or never to be taken, or twice without a known outcome, which an invited member shows; or there is
 *              nobody to send it to
 *   postponed  due again after a back-off, for as long as its code or link works
 *
 * Without a verdict the next attempt has the same idempotency key, so the mail service sends once.
 * After a certain "no" it has a new one, or that "no" would only be repeated.
 */

const POLL_MS = 1_000;
/** Longer than one attempt can take. */
const LEASE_MS = 30_000;
/** Mails under way at once, and of one organisation: one whose SMTP server hangs holds its own slots only. */
const SLOTS: Readonly<Record<Lane, { readonly total: number; readonly maxPerOrganisation: number }>> = {
  urgent: { total: 32, maxPerOrganisation: 4 },
  other: { total: 32, maxPerOrganisation: 4 },
};
/** More than are written between two looks. */
const MAX_ASSIGNED = 500;

/** Each may have arrived: a third copy helps nobody. */
const MAX_UNKNOWN_OUTCOMES = 2;
const UNKNOWN_OUTCOME =
  'The SMTP server did not say whether it accepted the invitation, twice: it may have arrived';

/** What the log says of a mail; a mail without a request is logged without one. */
const toLogFields = ({ id, kind, requestId }: OutgoingMail) => ({
  mail: id,
  kind,
  ...(requestId !== null && { requestId }),
});

export function createSendingJob(deps: {
  readonly prisma: Prisma;
  readonly prepare: Prepare;
  readonly send: SendMail;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
}) {
  const { prisma, prepare, send, clock, log } = deps;
  const inFlight = new Set<Promise<void>>();
  const slots = { urgent: createSlots(SLOTS.urgent.total), other: createSlots(SLOTS.other.total) };
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let claiming: Promise<void> | undefined;
  let isWakeMissed = false;

  async function recordOutcome(mail: OutgoingMail, result: SendResult): Promise<void> {
    const { id, kind, attempts } = mail;
    if (result.state !== 'sent' && result.reason !== IN_PROGRESS && !stopping.signal.aborted)
      log.warn(
        { ...toLogFields(mail), attempts, state: result.state, reason: result.reason },
        'mail not sent',
      );
    const isOver =
      result.state === 'sent' ||
      result.state === 'rejected' ||
      (result.state === 'unknown' && isNotice(kind));
    if (isOver) return void (await deleteMail(prisma, id));
    const unknownOutcomes = mail.unknownOutcomes + (result.state === 'unknown' ? 1 : 0);
    const isDeliveryUnknown = unknownOutcomes >= MAX_UNKNOWN_OUTCOMES;
    if (result.state === 'refused' || isDeliveryUnknown) {
      const undeliverableReason = isDeliveryUnknown ? UNKNOWN_OUTCOME : result.reason;
      return void (await giveUpMail(prisma, mail, { undeliverableReason, isDeliveryUnknown }));
    }
    const refusals = mail.refusals + (result.state === 'waiting' ? 0 : 1);
    const nextAttemptAt = new Date(clock() + getRetryDelayMs(kind, attempts));
    await postponeMail(prisma, id, { nextAttemptAt, refusals, unknownOutcomes });
  }

  async function attempt(mail: OutgoingMail): Promise<void> {
    try {
      const message = await prepare(mail);
      const { id, refusals, requestId } = mail;
      const options = { idempotencyKey: `${id}.${refusals}`, requestId, signal: stopping.signal };
      if (message) await recordOutcome(mail, await send(message, options));
      else await deleteMail(prisma, id);
    } catch (error) {
      // The row is due again when its lease ends.
      log.warn({ err: error, ...toLogFields(mail) }, 'mail not handled');
    }
  }

  function start(lane: Lane, mail: OutgoingMail): void {
    slots[lane].acquire(mail.orgId);
    const underWay: Promise<void> = attempt(mail).finally(() => {
      slots[lane].release(mail.orgId);
      inFlight.delete(underWay);
      wake();
    });
    inFlight.add(underWay);
  }

  async function claimLane(lane: Lane): Promise<void> {
    const { free, held } = slots[lane];
    if (free === 0) return;
    const [now, leasedUntil] = [new Date(clock()), new Date(clock() + LEASE_MS)];
    const { maxPerOrganisation } = SLOTS[lane];
    for (const mail of await claimMails(prisma, {
      lane,
      now,
      leasedUntil,
      limit: free,
      maxPerOrganisation,
      held,
    }))
      start(lane, mail);
  }

  async function claim(): Promise<void> {
    do {
      isWakeMissed = false;
      await assignOrganisations(prisma, MAX_ASSIGNED);
      for (const lane of lanes) await claimLane(lane);
    } while (isWakeMissed && !stopping.signal.aborted);
  }

  /** Looks for due mails, now or right after the look that is under way. */
  function wake(): void {
    isWakeMissed = true;
    if (stopping.signal.aborted) return;
    claiming ??= claim()
      .catch((error: unknown) => {
        log.warn({ err: error }, 'outgoing mails not read');
      })
      .finally(() => {
        claiming = undefined;
      });
  }

  return {
    wake,
    start() {
      timer = setInterval(wake, POLL_MS).unref();
    },
    /** Ends what is under way; the mail service finishes it, and the next attempt is told the outcome. */
    async stop(): Promise<void> {
      clearInterval(timer);
      stopping.abort();
      await claiming;
      await Promise.all(inFlight);
    },
  };
}
