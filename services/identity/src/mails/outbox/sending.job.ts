import { type Clock, createPeriodicTask, type Logger } from '@platform/service-kit';
import { claimMails, type Urgency } from './claim.queries.js';
import { getRetryDelayMs } from './mail-kind.js';
import { type PrepareContext, prepareMail } from './prepare.js';
import { abandonMail, deleteMail, postponeMail } from './queries.js';
import type { OutgoingMail } from './outbox.sql.js';
import { type MailServiceContext, sendMail } from './send-mail.js';

/*
 * The life of a row:
 *
 *   due        nextAttemptAt has passed; before the first attempt the row has no message, and mails with its merge key
 *              are merged into it
 *   claimed    nextAttemptAt is LEASE_MS ahead; the claiming replica is handing the mail over
 *   deleted    the mail service has stored the mail, or will never accept it, or it has no recipient
 *   postponed  due again after a back-off, while the mail service is unavailable or has no SMTP configuration, until the
 *              code or link expires
 */

const POLL_MS = 1_000;
/** Exceeds the duration of any attempt. */
const LEASE_MS = 30_000;
/** Mails that are handed over at once, and how many of these places only urgent ones get. */
const MAX_IN_FLIGHT = 32;
const KEPT_FOR_URGENT = 8;

/** Returns the log fields of a mail; the request id is left out when there is none. */
const toLogFields = ({ id, kind, requestId }: OutgoingMail) => ({
  mail: id,
  kind,
  ...(requestId !== null && { requestId }),
});

interface SendingContext extends PrepareContext, MailServiceContext {
  readonly clock: Clock;
  readonly log: Logger;
}

export function createSendingJob(ctx: SendingContext) {
  const { prisma, clock, log } = ctx;
  const inFlight = new Set<Promise<void>>();
  const stopping = new AbortController();

  async function attempt(mail: OutgoingMail): Promise<void> {
    const { id, kind, attempts, expiresAt, requestId } = mail;
    try {
      const message = await prepareMail(ctx, mail);
      if (!message) return void (await deleteMail(prisma, id));
      const options = { idempotencyKey: id, expiresAt, requestId, signal: stopping.signal };
      const result = await sendMail(ctx, message, options);
      if ('reason' in result && !stopping.signal.aborted)
        log.warn({ ...toLogFields(mail), attempts, ...result }, 'failed to hand the mail over');
      if (result.state === 'waiting')
        await postponeMail(prisma, id, new Date(clock() + getRetryDelayMs(kind, attempts)));
      else if (result.state === 'rejected') await abandonMail(prisma, mail, 'EREJECTED', new Date(clock()));
      else await deleteMail(prisma, id);
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
