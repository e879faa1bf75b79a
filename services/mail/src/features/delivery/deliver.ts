import { setTimeout as delay } from 'node:timers/promises';
import type { SmtpConfiguration } from '../smtp-configuration/configuration.js';
import { classifyFailure, type Outcome } from './outcome.js';
import type { Message, TransportPools } from './pools.js';

/** Waits before the second and the third attempt. */
const RETRY_AFTER_MS = [250, 1_000] as const;

/** The slowest connection that still counts as one that works: a mail of 25 MiB gets seven minutes more. */
const BYTES_PER_MS = 64;

/** A mail on its way to one organisation's server. */
export interface Delivery {
  readonly orgId: string;
  /** Mails with the same key and configuration share connections. Default: those of the organisation. */
  readonly poolKey?: string;
  readonly configuration: SmtpConfiguration;
  /** Makes a new message for each attempt: an attachment that is a stream can be read once. */
  readonly message: (signal: AbortSignal) => Message;
  readonly messageBytes: number;
  /** When somebody waits for the outcome: until then, in `performance.now()`, however large the mail is. */
  readonly deadlineAt?: number;
  /** Ends all attempts early. */
  readonly signal?: AbortSignal;
}

export type Deliver = (delivery: Delivery) => Promise<Outcome>;

async function attemptUntil(
  signal: AbortSignal,
  pools: TransportPools,
  delivery: Delivery,
): Promise<Outcome> {
  const { orgId, poolKey = orgId, configuration, message } = delivery;
  const attemptOnce = async () => pools.attempt(poolKey, configuration, message(signal));
  for (let attempt = 0; ; attempt += 1) {
    const { outcome, canRetry } = await attemptOnce().catch((error: unknown) =>
      // An attempt never rejects: the message couldn't be made, and there was none.
      classifyFailure(error, false),
    );
    const waitMs = RETRY_AFTER_MS[attempt];
    if (!canRetry || waitMs === undefined) return outcome;
    await delay(waitMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return outcome;
  }
}

/**
 * Sends, and tries again only where nothing can have been accepted. Never rejects: what was begun has an outcome.
 *
 * @param followedMs - for all attempts of a small mail together, when nobody waits: a server that trickles its answers
 *   trips no other timeout. Large ones get more.
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
    signal?.addEventListener('abort', expire, { once: true });
    if (signal?.aborted) expire();
    try {
      return await attemptUntil(deadline.signal, pools, delivery);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', expire);
    }
  };
