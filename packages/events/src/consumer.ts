// The npm package: what consumers of sync events need, by Kafka or by the feed. It loads nothing else.
import { setTimeout as delay } from 'node:timers/promises';
import { isTransient, RequestError, toPauseMs } from '@platform/service-kit/platform-response';
import type { SyncEvent } from './sync-event.js';

export { RequestError };
export type { Connector, SyncEventType } from './connectors.js';
export type { RunFields, SyncEvent } from './sync-event.js';

const MAX_REMEMBERED = 100_000;
const EVENTS_PER_REQUEST = 100;
const REQUEST_TIMEOUT_MS = 10_000;
const DEFAULT_POLL_MS = 1_000;

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/**
 * Reads the value of a Kafka message. Fields that are not known here are kept.
 *
 * @returns undefined when it is no sync event.
 */
export function parseSyncEvent(value: Uint8Array | string | null): SyncEvent | undefined {
  let event: unknown;
  try {
    event = JSON.parse(typeof value === 'string' ? value : Buffer.from(value ?? []).toString());
  } catch {
    return undefined;
  }
  if (!isRecord(event) || !isRecord(event['payload'])) return undefined;
  const { eventId, eventType, timestamp, payload } = event;
  const texts = [eventId, eventType, payload['orgId'], payload['connector']];
  const isEvent = typeof timestamp === 'number' && texts.every((text) => typeof text === 'string');
  return isEvent ? (event as unknown as SyncEvent) : undefined;
}

/** The part of a message of kafkajs that is read. */
interface ReceivedMessage {
  readonly value: Uint8Array | null;
  readonly offset: string;
}

/**
 * Creates the `eachMessage` of a kafkajs consumer. It drops the duplicates that follow closely, as after a restart of the
 * relay. A consumer that must never handle an event twice stores the id of the event together with its effect.
 */
export function createMessageHandler(options: {
  /** Called in order per key. When it throws, kafkajs delivers the message again. */
  readonly handle: (event: SyncEvent) => Promise<void> | void;
  /** Called for a message that is no sync event; it is passed over. */
  readonly onInvalid?: (message: ReceivedMessage) => void;
}) {
  const handled = new Set<string>();
  return async ({ message }: { readonly message: ReceivedMessage }): Promise<void> => {
    const event = parseSyncEvent(message.value);
    if (!event) {
      options.onInvalid?.(message);
      return;
    }
    if (handled.has(event.eventId)) return;
    await options.handle(event);
    // A set keeps the order in which its members were added, so the first one is the oldest.
    if (handled.add(event.eventId).size > MAX_REMEMBERED) handled.delete([...handled.keys()][0] as string);
  };
}

export interface FollowOptions {
  /** The base URL of the platform. */
  readonly url: string;
  /** A token of an administrator with the scope `crawl:read`. */
  readonly token: string;
  /** Reads the cursor that was saved last; undefined begins with the oldest stored event. */
  readonly readCursor: () => Promise<string | undefined> | string | undefined;
  /** Called when all events up to the cursor are handled. */
  readonly saveCursor: (cursor: string) => Promise<unknown> | void;
  /** Called in order. When it throws, the events since the last saved cursor are handled again. */
  readonly handle: (event: SyncEvent) => Promise<void> | void;
  /** Called when events were deleted before they were read. The feed is then read from its start. */
  readonly onGap: () => Promise<void> | void;
  /** Called once per fault, which is retried. By default it is written to stderr. */
  readonly onFault?: (message: string) => void;
  /** Ends it. Events that are being handled are then not marked as read. */
  readonly signal: AbortSignal;
  /** How long to wait when there are no more events. Default: 1,000. */
  readonly pollMs?: number;
}

interface FeedPage {
  readonly data: readonly SyncEvent[];
  readonly nextCursor: string | null;
  readonly hasMore: boolean;
}

/** @returns undefined when the feed cannot continue from `after`. */
async function readPage(
  { url, token, signal }: FollowOptions,
  after: string | undefined,
): Promise<FeedPage | undefined> {
  const target = new URL('/api/v1/crawlingManager/events', url);
  target.searchParams.set('limit', String(EVENTS_PER_REQUEST));
  if (after !== undefined) target.searchParams.set('after', after);
  const response = await fetch(target, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
  });
  if (response.status === 410 && after !== undefined) return undefined;
  if (!response.ok) throw new RequestError(response, await response.text());
  return (await response.json()) as FeedPage;
}

/** Handles what there is at the moment. */
async function catchUp(options: FollowOptions): Promise<void> {
  const { signal } = options;
  let cursor = await options.readCursor();
  for (let hasMore = true; hasMore && !signal.aborted;) {
    const page = await readPage(options, cursor);
    if (!page) {
      await options.onGap();
      cursor = undefined;
      continue;
    }
    for (const event of page.data) await options.handle(event);
    // A handler that had to stop may have returned early.
    if (signal.aborted) return;
    if (page.nextCursor !== null && page.nextCursor !== cursor) await options.saveCursor(page.nextCursor);
    cursor = page.nextCursor ?? undefined;
    ({ hasMore } = page);
  }
}

function writeFault(message: string): void {
  process.stderr.write(`Failed to follow the sync events; will retry: ${message}\n`);
}

/**
 * Follows the feed of sync events, which needs no Kafka, until the signal is aborted. Delivery is at least once, in the
 * order of the events. Faults of `handle`, lost connections, 429 and 5xx are retried.
 *
 * @throws RequestError when the platform refuses to show the feed, as with a revoked token (401) or a missing scope (403).
 */
export async function followEvents(options: FollowOptions): Promise<void> {
  const { signal, pollMs = DEFAULT_POLL_MS, onFault = writeFault } = options;
  let lastFault = '';
  let failures = 0;
  while (!signal.aborted) {
    let pauseMs = pollMs;
    try {
      await catchUp(options);
      lastFault = '';
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      if (!isTransient(error)) throw error;
      const { message } = error as Error;
      if (message !== lastFault) onFault(message);
      lastFault = message;
      failures += 1;
      pauseMs = Math.max(
        pollMs,
        toPauseMs(failures, error instanceof RequestError ? error.retryAfterMs : undefined),
      );
    }
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}
