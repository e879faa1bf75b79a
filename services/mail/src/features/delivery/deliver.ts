import { setTimeout as delay } from 'node:timers/promises';
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

/** A mail to deliver through one organisation's server. */
export interface Delivery extends PoolChoice {
  readonly recipients: readonly string[];
  /** Creates a new message for each transaction, because an attachment that is a stream can be read only once. */
  readonly message: (recipients: readonly string[], signal: AbortSignal) => Message;
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

/** Returns the outcome of a mail that the server has accepted for some recipients, and not for the rest in the last transaction. */
function addOutcome(
  earlier: readonly RecipientOutcome[],
  rest: readonly string[],
  outcome: Exclude<Outcome, { state: 'sent' }>,
): Outcome {
  const { state, problem, recipients } = outcome;
  if (state === 'unknown') return { state, problem, recipients: earlier };
  const named = new Map(recipients.map((one) => [one.address, one]));
  const ofRest = rest.map((address) => named.get(address) ?? toRefusedOutcome(address, problem));
  return { state: 'sent', recipients: [...withoutAccepted(earlier), ...ofRest] };
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
  const { message, onData } = delivery;
  const earlier: RecipientOutcome[] = [];
  for (let recipients = delivery.recipients; ;) {
    const attempt = async () => pools.attempt(delivery, message(recipients, signal), onData);
    const result = await attempt().catch((error: unknown) =>
      // An attempt never rejects, so the error comes from creating the message: nothing was sent.
      classifyFailure(error, false),
    );
    const { outcome, tooMany = [] } = result;
    if (outcome.state !== 'sent')
      return earlier.length === 0
        ? result
        : { outcome: addOutcome(earlier, recipients, outcome), canRetry: false };
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
