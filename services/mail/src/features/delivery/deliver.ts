import { setTimeout as delay } from 'node:timers/promises';
import type { SmtpConfiguration } from '../smtp-configuration/configuration.js';
import type { Outcome } from './outcome.js';
import type { Message, TransportPools } from './pools.js';

/** Waits before the second and the third attempt. */
const RETRY_AFTER_MS = [250, 1_000] as const;

/** Makes a new one for each attempt: an attachment that is a stream can be read once. */
export type MessageSource = (signal: AbortSignal) => Message;

export type Deliver = (
  orgId: string,
  configuration: SmtpConfiguration,
  message: MessageSource,
  messageBytes: number,
) => Promise<Outcome>;

/** The slowest connection that still counts as one that works: a mail of 25 MiB gets seven minutes more. */
const BYTES_PER_MS = 64;

/**
 * Sends, and tries again only where nothing can have been accepted.
 *
 * @param deadlineMs - for all attempts of a small mail together: a server that trickles its answers trips no
 *   other timeout.
 */
export const createDeliver =
  (pools: TransportPools, deadlineMs: number): Deliver =>
  async (orgId, configuration, message, messageBytes) => {
    const signal = AbortSignal.timeout(deadlineMs + Math.ceil(messageBytes / BYTES_PER_MS));
    for (let attempt = 0; ; attempt += 1) {
      const { outcome, canRetry } = await pools.attempt(orgId, configuration, message(signal));
      const waitMs = RETRY_AFTER_MS[attempt];
      if (!canRetry || waitMs === undefined) return outcome;
      await delay(waitMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return outcome;
    }
  };
