import type { Clock, Logger } from '@platform/service-kit';
import type { Prisma } from '../../resources.js';
import type { SendMail, SendResult } from './mail-client.js';
import { isNotice, retryDelay } from './mail-kind.js';
import type { Prepare } from './prepare.js';
import { claimMails, deleteMail, type OutgoingMail, postponeMail } from './queries.js';

/*
 * The life of a row:
 *
 *   due        nextAttemptAt has come; it has no letter before the first attempt
 *   claimed    moved LEASE_MS ahead by whoever sends it
 *   gone       sent; or never to be taken; or there is nobody to send it to
 *   postponed  due again after a back-off, for as long as its code or link works
 *
 * Without a verdict the next attempt has the same idempotency key, so the mail service sends once.
 * After a certain "no" it has a new one, or that "no" would only be repeated.
 */

const POLL_MS = 1_000;
/** Longer than one attempt can take. */
const LEASE_MS = 30_000;
/** Mails under way at once; an organisation whose SMTP server hangs holds one for 10 seconds each. */
const IN_FLIGHT_MAX = 16;

/** What the log says of a mail; a mail without a request is logged without one. */
const describeMail = ({ id, kind, requestId }: OutgoingMail) => ({
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
  let timer: NodeJS.Timeout | undefined;
  let claiming: Promise<void> | undefined;
  let isWakeMissed = false;

  async function settle(mail: OutgoingMail, result: SendResult): Promise<void> {
    const { id, kind, attempts } = mail;
    if (result.state !== 'sent' && !stopping.signal.aborted)
      log.warn(
        { ...describeMail(mail), attempts, state: result.state, reason: result.reason },
        'mail not sent',
      );
    const isOver =
      result.state === 'sent' ||
      result.state === 'rejected' ||
      (result.state === 'unknown' && isNotice(kind));
    if (isOver) {
      await deleteMail(prisma, id);
      return;
    }
    const refusals = mail.refusals + (result.state === 'waiting' ? 0 : 1);
    await postponeMail(prisma, id, new Date(clock() + retryDelay(kind, attempts)), refusals);
  }

  async function attempt(mail: OutgoingMail): Promise<void> {
    try {
      const letter = await prepare(mail);
      const { id, refusals, requestId } = mail;
      const options = { idempotencyKey: `${id}.${refusals}`, requestId, signal: stopping.signal };
      if (letter) await settle(mail, await send(letter, options));
      else await deleteMail(prisma, id);
    } catch (error) {
      // The row is due again when its lease ends.
      log.warn({ err: error, ...describeMail(mail) }, 'mail not handled');
    }
  }

  function start(mail: OutgoingMail): void {
    const underWay: Promise<void> = attempt(mail).finally(() => {
      inFlight.delete(underWay);
      wake();
    });
    inFlight.add(underWay);
  }

  async function claim(): Promise<void> {
    do {
      isWakeMissed = false;
      const free = IN_FLIGHT_MAX - inFlight.size;
      if (free === 0) return;
      const now = clock();
      (await claimMails(prisma, new Date(now), new Date(now + LEASE_MS), free)).forEach(start);
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
