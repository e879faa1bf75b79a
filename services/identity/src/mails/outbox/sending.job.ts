import { type Clock, createPeriodicTask, type Logger } from '@platform/service-kit';
import { claimMails, type Lane, lanes } from './claim.queries.js';
import { getRetryDelayMs, isNotice } from './mail-kind.js';
import type { Prepare } from './prepare.js';
import { assignOrganisations, deleteMail, giveUpMail, type OutgoingMail, postponeMail } from './queries.js';
import { IN_PROGRESS, type SendMail, type SendResult } from './send-mail.js';
import type { Prisma } from '../../resources.js';

/** Counts the slots for concurrent mails, in total and by organisation. The caller checks `free` before it acquires. */
function createSlots(total: number) {
  const held = new Map<string, number>();
  let taken = 0;
  return {
    get free() {
      return total - taken;
    },
    /** The number of acquired slots by organisation. */
    held: held as ReadonlyMap<string, number>,
    acquire(orgId: string): void {
      held.set(orgId, (held.get(orgId) ?? 0) + 1);
      taken += 1;
    },
    release(orgId: string): void {
      const left = (held.get(orgId) ?? 1) - 1;
      if (left > 0) held.set(orgId, left);
      else held.delete(orgId);
      taken -= 1;
    },
  };
}

/*
 * The life of a row:
 *
 *   due        nextAttemptAt has passed; before the first attempt the row has no message, and mails with its merge key
 *              are merged into it
 *   claimed    nextAttemptAt is LEASE_MS ahead; the claiming replica is sending the mail
 *   deleted    the mail was sent, was rejected permanently, twice had an unknown outcome, or has no recipient
 *   postponed  due again after a back-off, until its code or link expires
 *
 * When the outcome isn't known yet, the next attempt has the same idempotency key, so that the mail service sends the
 * mail once. After a definite failure it has a new key, because the old key would only repeat the failure.
 */

const POLL_MS = 1_000;
/** Exceeds the duration of any attempt. */
const LEASE_MS = 30_000;
/** Concurrent mails, in total and per organisation: one whose SMTP server hangs can't use up the slots of others. */
const SLOTS: Readonly<Record<Lane, { readonly total: number; readonly maxPerOrganisation: number }>> = {
  urgent: { total: 32, maxPerOrganisation: 4 },
  other: { total: 32, maxPerOrganisation: 4 },
  alerts: { total: 32, maxPerOrganisation: 4 },
  thefts: { total: 32, maxPerOrganisation: 4 },
};
/** Exceeds the number of mails that are usually stored between two polls. */
const MAX_ASSIGNED = 500;

/** Each attempt with an unknown outcome may have delivered the mail, so it isn't sent a third time. */
const MAX_UNKNOWN_OUTCOMES = 2;
const UNKNOWN_OUTCOME =
  'The SMTP server did not say whether it accepted the invitation, twice: it may have arrived';

/** Returns the log fields of a mail; the request id is left out when there is none. */
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
  const slots = {
    urgent: createSlots(SLOTS.urgent.total),
    other: createSlots(SLOTS.other.total),
    alerts: createSlots(SLOTS.alerts.total),
    thefts: createSlots(SLOTS.thefts.total),
  };
  const stopping = new AbortController();

  async function recordOutcome(mail: OutgoingMail, result: SendResult): Promise<void> {
    const { id, kind, attempts } = mail;
    if (result.state !== 'sent' && result.reason !== IN_PROGRESS && !stopping.signal.aborted)
      log.warn(
        { ...toLogFields(mail), attempts, state: result.state, reason: result.reason },
        'failed to send the mail',
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
      // The row becomes due again when its lease expires.
      log.warn(
        { err: error, ...toLogFields(mail) },
        'failed to process the mail; it is retried when its lease expires',
      );
    }
  }

  function start(lane: Lane, mail: OutgoingMail): void {
    slots[lane].acquire(mail.orgId);
    const sending: Promise<void> = attempt(mail).finally(() => {
      slots[lane].release(mail.orgId);
      inFlight.delete(sending);
      claiming.wake();
    });
    inFlight.add(sending);
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
    await assignOrganisations(prisma, MAX_ASSIGNED);
    for (const lane of lanes) await claimLane(lane);
  }

  const claiming = createPeriodicTask({
    intervalMs: POLL_MS,
    run: claim,
    onError: (error) => {
      log.warn({ err: error }, 'failed to claim outgoing mails; retrying');
    },
  });

  return {
    /** Claims due mails now, or right after the claim in progress. */
    wake: claiming.wake,
    start: claiming.start,
    /** Aborts the requests in flight; the mail service completes them, and the next attempts get the outcomes. */
    async stop(): Promise<void> {
      stopping.abort();
      await claiming.stop();
      await Promise.all(inFlight);
    },
  };
}
