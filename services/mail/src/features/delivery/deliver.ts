import { setTimeout as delay } from 'node:timers/promises';
import { classifyFailure, type Outcome } from './outcome.js';
import type { Message, OnData, PoolChoice, TransportPools } from './pools.js';

/** The delays before the second and the third attempt. */
const RETRY_AFTER_MS = [250, 1_000] as const;

/** The slowest connection that is still considered working. It gives a mail of 25 MiB seven more minutes. */
const BYTES_PER_MS = 64;

/** A mail to deliver through one organisation's server. */
export interface Delivery extends PoolChoice {
  /** Creates a new message for each attempt, because an attachment that is a stream can be read only once. */
  readonly message: (signal: AbortSignal) => Message;
  readonly messageBytes: number;
  readonly onData: OnData;
  /** Set when a client waits for the outcome: the end of all attempts in `performance.now()`, for any size of mail. */
  readonly deadlineAt?: number | undefined;
  /** Aborts all attempts. */
  readonly signal: AbortSignal;
}

export type Deliver = (delivery: Delivery) => Promise<Outcome>;

async function attemptUntil(
  signal: AbortSignal,
  pools: TransportPools,
  delivery: Delivery,
): Promise<Outcome> {
  const { message, onData } = delivery;
  const attemptOnce = async () => pools.attempt(delivery, message(signal), onData);
  for (let attempt = 0; ; attempt += 1) {
    const { outcome, canRetry } = await attemptOnce().catch((error: unknown) =>
      // An attempt never rejects, so the error comes from creating the message: nothing was sent.
      classifyFailure(error, false),
    );
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
