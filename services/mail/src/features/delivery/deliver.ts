import { setTimeout as delay } from 'node:timers/promises';
import type { SmtpProblem } from '@platform/events/facts';
import {
  type AttemptResult,
  classifyFailure,
  type Outcome,
  type RecipientOutcome,
  toRefusedOutcome,
} from './outcome.js';
import type { Message, OnData, PoolChoice, TransportPools } from './pools.js';

/** The delays before the second and the third attempt. */
const RETRY_AFTER_MS = [250, 1_000] as const;

/** The slowest connection that is still considered working. It gives a mail of 25 MiB seven more minutes. */
const BYTES_PER_MS = 64;

/** One handing over of a message (RFC 5321 §3.3). */
export interface Transaction {
  readonly recipients: readonly string[];
  /** Whether the message is announced with SMTPUTF8. Otherwise its headers must not have addresses that need it. */
  readonly allowsUtf8: boolean;
}

/** Whether an address needs SMTPUTF8 (RFC 6531): a domain has an ASCII form, what is before the `@` has none. */
export const needsUtf8 = (address: string): boolean =>
  /\P{ASCII}/u.test(address.slice(0, address.lastIndexOf('@')));

/** A mail to deliver through one organisation's server. */
export interface Delivery extends PoolChoice {
  readonly from: string;
  readonly recipients: readonly string[];
  /** Whether an address of the message, also one that is only in its headers, needs SMTPUTF8. */
  readonly isInternational: boolean;
  /** Creates a new message for each transaction, because an attachment that is a stream can be read only once. */
  readonly message: (transaction: Transaction, signal: AbortSignal) => Message;
  /** The size of the message, or a little less. */
  readonly messageBytes: number;
  readonly onData: OnData;
  /** Set when a client waits for the outcome: the end of all attempts in `performance.now()`, for any size of mail. */
  readonly deadlineAt?: number | undefined;
  /** Aborts all attempts. */
  readonly signal: AbortSignal;
}

export type Deliver = (delivery: Delivery) => Promise<Outcome>;

const withoutAccepted = (recipients: readonly RecipientOutcome[]): readonly RecipientOutcome[] =>
  recipients.filter(({ state }) => state !== 'accepted');

/** Adds the outcomes of earlier recipients to a transaction that failed, or whose outcome is unknown. */
function addEarlier(
  earlier: readonly RecipientOutcome[],
  rest: readonly string[],
  outcome: Exclude<Outcome, { state: 'sent' }>,
): Outcome {
  const { state, problem, recipients } = outcome;
  if (state === 'unknown') return { state, problem, recipients: earlier };
  const isPartlySent = earlier.some((one) => one.state === 'accepted');
  if (!isPartlySent) return { state, problem, recipients: [...earlier, ...recipients] };
  const named = new Map(recipients.map((one) => [one.address, one]));
  const ofRest = rest.map((address) => named.get(address) ?? toRefusedOutcome(address, problem));
  return { state: 'sent', recipients: [...withoutAccepted(earlier), ...ofRest] };
}

/** A larger message is not handed over before the server's limit is known: many servers break the connection in its middle. */
const LARGE_BYTES = 1_048_576;

const fail = (problem: SmtpProblem, recipients: readonly RecipientOutcome[] = []): AttemptResult => ({
  outcome: { state: 'failed', problem, recipients },
  canRetry: false,
});

/** The server cannot take the address (RFC 6531 §3.2). */
const UTF8_REFUSED: SmtpProblem = { code: 'ESMTPUTF8', command: 'RCPT TO', status: '5.6.7' };

interface CheckedDelivery {
  /** The recipients that the server can take. */
  readonly recipients: readonly string[];
  readonly smtpUtf8: boolean;
}

/** Checks what a mail needs of its server, before anything of it is handed over. @returns a result when it cannot be sent. */
async function checkOffer(
  signal: AbortSignal,
  pools: TransportPools,
  delivery: Delivery,
): Promise<AttemptResult | CheckedDelivery> {
  const { from, recipients, messageBytes, isInternational } = delivery;
  if (!isInternational && messageBytes < LARGE_BYTES) return { recipients, smtpUtf8: false };
  const { maxBytes, smtpUtf8 } = await pools.getOffer(delivery, signal);
  if (maxBytes !== undefined && messageBytes > maxBytes)
    return fail({ code: 'ETOOLARGE', command: 'MAIL FROM', status: '5.3.4' });
  if (smtpUtf8) return { recipients, smtpUtf8 };
  // The configuration is at fault, and not the mail.
  if (needsUtf8(from)) return fail({ code: 'ESMTPUTF8' });
  const possible = recipients.filter((address) => !needsUtf8(address));
  if (possible.length > 0) return { recipients: possible, smtpUtf8 };
  return fail(
    UTF8_REFUSED,
    recipients.map((address) => toRefusedOutcome(address, UTF8_REFUSED)),
  );
}

/**
 * Sends a mail in as many transactions as the server needs for its recipients: it accepts as many as it likes in each
 * (RFC 5321 §4.5.3.1.10). Each further transaction has fewer recipients than the one before.
 */
async function attemptOnce(
  signal: AbortSignal,
  pools: TransportPools,
  delivery: Delivery,
): Promise<AttemptResult> {
  const checked = await checkOffer(signal, pools, delivery).catch((error: unknown) =>
    classifyFailure(error, false),
  );
  if ('outcome' in checked) return checked;
  const { message, onData, from } = delivery;
  const earlier: RecipientOutcome[] = delivery.recipients
    .filter((address) => !checked.recipients.includes(address))
    .map((address) => toRefusedOutcome(address, UTF8_REFUSED));
  for (let { recipients } = checked; ;) {
    const allowsUtf8 = checked.smtpUtf8 && [from, ...recipients].some(needsUtf8);
    const attempt = async () => pools.attempt(delivery, message({ recipients, allowsUtf8 }, signal), onData);
    const {
      outcome,
      canRetry,
      tooMany = [],
    } = await attempt().catch((error: unknown) =>
      // An attempt never rejects, so the error comes from creating the message: nothing was sent.
      classifyFailure(error, false),
    );
    if (outcome.state !== 'sent') {
      const whole = addEarlier(earlier, recipients, outcome);
      return { outcome: whole, canRetry: canRetry && whole.state === 'failed' };
    }
    const named = new Set(outcome.recipients.map(({ address }) => address));
    const accepted = recipients.filter((address) => !named.has(address));
    earlier.push(
      ...accepted.map((address) => ({ address, state: 'accepted' as const })),
      ...outcome.recipients.filter(({ address }) => !tooMany.includes(address)),
    );
    if (tooMany.length === 0)
      return { outcome: { state: 'sent', recipients: withoutAccepted(earlier) }, canRetry: false };
    recipients = tooMany;
  }
}

async function attemptUntil(
  signal: AbortSignal,
  pools: TransportPools,
  delivery: Delivery,
): Promise<Outcome> {
  for (let attempt = 0; ; attempt += 1) {
    const { outcome, canRetry } = await attemptOnce(signal, pools, delivery);
    const waitMs = RETRY_AFTER_MS[attempt];
    if (!canRetry || waitMs === undefined) return outcome;
    await delay(waitMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return outcome;
  }
}

/**
 * Sends a mail, and retries only when the server cannot have accepted it. Never rejects: every delivery has an outcome.
 *
 * @param backgroundTimeoutMs - limits all attempts together when no client waits; large mails get more. It is needed
 *   because a server that replies byte by byte triggers no other timeout.
 */
export const createDeliver =
  (pools: TransportPools, backgroundTimeoutMs: number): Deliver =>
  async (delivery) => {
    const { deadlineAt, messageBytes, signal } = delivery;
    const leftMs =
      deadlineAt === undefined
        ? backgroundTimeoutMs + Math.ceil(messageBytes / BYTES_PER_MS)
        : deadlineAt - performance.now();
    const deadline = new AbortController();
    const expire = (): void => {
      deadline.abort();
    };
    const timer = setTimeout(expire, Math.max(0, leftMs));
    signal.addEventListener('abort', expire, { once: true });
    if (signal.aborted) expire();
    try {
      return await attemptUntil(deadline.signal, pools, delivery);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', expire);
    }
  };
