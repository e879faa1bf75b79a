import { type Clock, createPeriodicTask, type Logger } from '@platform/service-kit';
import type { Prisma } from '../../resources.js';
import { claimMails, type Urgency } from './claim.queries.js';
import { getRetryDelayMs } from './mail-kind.js';
import type { Prepare } from './prepare.js';
import { abandonInvitation, abandonMail, deleteMail, type OutgoingMail, postponeMail } from './queries.js';
import type { SendMail, SendResult } from './send-mail.js';

/*
 * The life of a row:
 *
 *   due        nextAttemptAt has passed; before the first attempt the row has no message, and mails with its merge key
 *              are merged into it
 *   claimed    nextAttemptAt is LEASE_MS ahead; the claiming replica is handing the mail over
 *   deleted    the mail service has stored the mail, or will never accept it, or it has no recipient
 *   postponed  due again after a back-off, while the mail service is unavailable or has no SMTP configuration, until the
 *              code or link expires
 *
 * The row of an invitation stays for some hours, and the same request is repeated, which returns the outcome: whether it
 * can't be delivered is shown with the member.
 */

const POLL_MS = 1_000;
/** Exceeds the duration of any attempt. */
const LEASE_MS = 30_000;
/** Mails that are handed over at once, and how many of these places only urgent ones get. */
const MAX_IN_FLIGHT = 32;
const KEPT_FOR_URGENT = 8;

/** The mail service keeps an idempotency key for a day: repeated later, the request would send another mail. */
const MAX_FOLLOWED_MS = 20 * 60 * 60_000;

const UNKNOWN_OUTCOME = 'The SMTP server did not say whether it accepted the invitation: it may have arrived';

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
  const stopping = new AbortController();

  const postpone = ({ id, kind, attempts }: OutgoingMail, acceptedAt: Date | null): Promise<unknown> =>
    postponeMail(prisma, id, {
      nextAttemptAt: new Date(clock() + getRetryDelayMs(kind, attempts)),
      acceptedAt,
    });

  const isOver = ({ acceptedAt }: OutgoingMail): boolean =>
    acceptedAt !== null && clock() - acceptedAt.getTime() >= MAX_FOLLOWED_MS;

  async function recordResult(mail: OutgoingMail, result: SendResult): Promise<void> {
    if ('reason' in result && !stopping.signal.aborted)
      log.warn(
        { ...toLogFields(mail), attempts: mail.attempts, state: result.state, reason: result.reason },
        'failed to send the mail',
      );
    const { state } = result;
    if (state === 'waiting') return void (await postpone(mail, mail.acceptedAt));
    if (state === 'accepted' && mail.kind === 'invitation')
      return void (await postpone(mail, mail.acceptedAt ?? new Date(clock())));
    if (mail.kind === 'invitation' && state === 'refused')
      return void (await abandonInvitation(prisma, mail, {
        undeliverableReason: result.reason,
        isDeliveryUnknown: false,
      }));
    if (mail.kind === 'invitation' && state === 'unknown')
      return void (await abandonInvitation(prisma, mail, {
        undeliverableReason: UNKNOWN_OUTCOME,
        isDeliveryUnknown: true,
      }));
    if (state === 'rejected') return void (await abandonMail(prisma, mail, 'EREJECTED', new Date(clock())));
    await deleteMail(prisma, mail.id);
  }

  async function attempt(mail: OutgoingMail): Promise<void> {
    try {
      const message = isOver(mail) ? undefined : await prepare(mail);
      const { id: idempotencyKey, expiresAt, requestId } = mail;
      const options = { idempotencyKey, expiresAt, requestId, signal: stopping.signal };
      if (message) await recordResult(mail, await send(message, options));
      else await deleteMail(prisma, mail.id);
    } catch (error) {
      // The row becomes due again when its lease expires.
      log.warn(
        { err: error, ...toLogFields(mail) },
        'failed to process the mail; it is retried when its lease expires',
      );
    }
  }

  function start(mail: OutgoingMail): void {
    const sending: Promise<void> = attempt(mail).finally(() => {
      inFlight.delete(sending);
      claiming.wake();
    });
    inFlight.add(sending);
  }

  async function claim(urgency: Urgency, maxInFlight: number): Promise<void> {
    const limit = maxInFlight - inFlight.size;
    if (limit <= 0) return;
    const [now, leasedUntil] = [new Date(clock()), new Date(clock() + LEASE_MS)];
    for (const mail of await claimMails(prisma, { urgency, now, leasedUntil, limit })) start(mail);
  }

  const claiming = createPeriodicTask({
    intervalMs: POLL_MS,
    async run() {
      await claim('urgent', MAX_IN_FLIGHT);
      await claim('any', MAX_IN_FLIGHT - KEPT_FOR_URGENT);
    },
    onError: (error) => {
      log.warn({ err: error }, 'failed to claim outgoing mails; retrying');
    },
  });

  return {
    /** Claims due mails now, or right after the claim in progress. */
    wake: claiming.wake,
    start: claiming.start,
    /** Aborts the requests in flight; the next attempts repeat them with the same keys. */
    async stop(): Promise<void> {
      stopping.abort();
      await claiming.stop();
      await Promise.all(inFlight);
    },
  };
}
