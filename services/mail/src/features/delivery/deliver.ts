import { setTimeout as delay } from 'node:timers/promises';
import type { SmtpConfiguration } from '../smtp-configuration/configuration.js';
import { judgeFailure, type Outcome } from './outcome.js';
import type { Message, TransportPools } from './pools.js';

/** Waits before the second and the third attempt. */
const RETRY_AFTER_MS = [250, 1_000] as const;

/** The slowest connection that still counts as one that works: a mail of 25 MiB gets seven minutes more. */
const BYTES_PER_MS = 64;

/** A mail on its way to one organisation's server. */
export interface Delivery {
  readonly orgId: string;
  readonly configuration: SmtpConfiguration;
  /** Makes a new message for each attempt: an attachment that is a stream can be read once. */
  readonly message: (signal: AbortSignal) => Message;
  readonly messageBytes: number;
}

export type Deliver = (delivery: Delivery) => Promise<Outcome>;

async function attemptUntil(
  signal: AbortSignal,
  pools: TransportPools,
  delivery: Delivery,
): Promise<Outcome> {
  const { orgId, configuration, message } = delivery;
  const attemptOnce = async () => pools.attempt(orgId, configuration, message(signal));
  for (let attempt = 0; ; attempt += 1) {
    const { outcome, canRetry } = await attemptOnce().catch((error: unknown) =>
      // An attempt never rejects: the message couldn't be made, and there was none.
      judgeFailure(error, false),
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
 * @param deadlineMs - for all attempts of a small mail together: a server that trickles its answers trips no
 *   other timeout.
 */
export const createDeliver =
  (pools: TransportPools, deadlineMs: number): Deliver =>
  async (delivery) => {
    const deadline = new AbortController();
    const expire = (): void => {
      deadline.abort();
    };
    const timer = setTimeout(expire, deadlineMs + Math.ceil(delivery.messageBytes / BYTES_PER_MS));
    try {
      return await attemptUntil(deadline.signal, pools, delivery);
    } finally {
      clearTimeout(timer);
    }
  };
