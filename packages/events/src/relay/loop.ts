import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs, type Logger } from '@platform/service-kit';
import type pg from 'pg';
import type { RelayMetrics } from './metrics.js';
import type { OutageLog } from './outage-log.js';
import type { Publisher } from './publisher.js';
import { markPublished, type PendingEvent, readPending, readPendingKeys } from './queries.js';
import type { WakeSignal } from './wake-signal.js';

/** The next events of the partitions that did not accept them, by partition. What follows in those partitions waits. */
export type HeldPartitions = Map<number, PendingEvent>;

interface LoopDependencies {
  readonly client: pg.Client;
  /** Returns the error that ended the client's connection, if any. */
  readonly failed: () => Error | undefined;
  readonly publisher: Publisher;
  readonly held: HeldPartitions;
  readonly outages: OutageLog;
  readonly topicCheckMs: number | undefined;
  readonly wakeSignal: WakeSignal;
  readonly metrics: RelayMetrics | undefined;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly signal: AbortSignal;
}

/**
 * The number of events that are read, sent and marked together: some 200 kB, below the broker's default limit of 1
 * MB.
 */
const WINDOW = 500;

/** The number of keys that are read at once where all events wait; the events themselves are then not read. */
const KEYS_WINDOW = 10_000;

/** Limits reads of a busy outbox to 100 a second, for larger batches. The first event after a pause is sent at once. */
const LINGER_MS = 10;

/** The largest delay of an event whose notification was lost. */
const IDLE_MS = 500;

/** The longest pause between two attempts to send what is held. */
const LONGEST_RETRY_MS = 2_000;

const TOPIC_CHECK_MS = 5 * 60_000;

/**
 * Does the leader's work until it is stopped, the topic has another number of partitions, or something fails.
 *
 * Windows of pending events are read forward by position. Whatever is pending up to the cursor belongs to a held partition,
 * and comes after its next event or is that event. The next events of all held partitions are retried together, between two
 * windows; when one is accepted, the cursor goes back to it. The events of a partition, and so of a key, are therefore
 * always sent in order.
 */
export async function relayUntilStopped(deps: LoopDependencies): Promise<void> {
  const { client, held, publisher, wakeSignal } = deps;
  const isHeld = (event: Pick<PendingEvent, 'event_key'>) =>
    held.size > 0 && held.has(publisher.toPartition(event));
  let cursor = 0n;
  let failures = 0;
  let retryAt = Infinity;
  const { topicCheckMs = TOPIC_CHECK_MS } = deps;
  let checkTopicAt = performance.now() + topicCheckMs;
  /** After an attempt that took long, the pause is the longest at once: the others have waited for it. */
  function planRetry(startedAt: number): void {
    const now = performance.now();
    failures = held.size === 0 ? 0 : failures + 1;
    const pauseMs = Math.min(LONGEST_RETRY_MS, Math.max(backoffMs(failures), now - startedAt));
    retryAt = failures === 0 ? Infinity : now + pauseMs;
  }
  while (!deps.signal.aborted) {
    const fault = deps.failed();
    if (fault) throw fault;
    if (performance.now() >= checkTopicAt) {
      if (await publisher.isTopicChanged()) return;
      checkTopicAt = performance.now() + topicCheckMs;
    }
    const startedAt = performance.now();
    if (startedAt >= retryAt) {
      const accepted = await retryHeld(deps);
      for (const { position } of accepted) if (BigInt(position) < cursor) cursor = BigInt(position);
      if (accepted.length > 0) failures = 0;
      planRetry(startedAt);
      continue;
    }
    let window = await readPending(client, cursor, WINDOW);
    if (window.length === WINDOW && window.every(isHeld)) {
      cursor = await skip(deps, BigInt(window.at(-1)?.position ?? cursor), isHeld);
      window = await readPending(client, cursor, WINDOW);
    }
    cursor = BigInt(window.at(-1)?.position ?? cursor);
    const heldBefore = held.size;
    await publishEvents(
      deps,
      window.filter((event) => !isHeld(event)),
    );
    if (held.size > heldBefore) planRetry(startedAt);
    if (window.length === WINDOW) continue;
    if (window.length > 0) await delay(LINGER_MS);
    await wakeSignal.sleep(Math.min(IDLE_MS, Math.max(0, retryAt - performance.now())));
  }
}

/** Retries the next events of the held partitions. @returns the accepted events, whose partitions are no longer held. */
async function retryHeld(deps: LoopDependencies): Promise<readonly PendingEvent[]> {
  const { held, outages, publisher, log } = deps;
  const accepted = await publishEvents(deps, [...held.values()]);
  for (const event of accepted) {
    const partition = publisher.toPartition(event);
    held.delete(partition);
    outages.end(`partition ${partition}`);
    log.info({ partition }, 'Kafka accepts the events of a partition again');
  }
  return accepted;
}

/** @returns the position up to which every event is to be skipped; reads keys, not events. */
async function skip(
  { client, signal }: LoopDependencies,
  from: bigint,
  isSkipped: (event: Pick<PendingEvent, 'event_key'>) => boolean,
): Promise<bigint> {
  let cursor = from;
  while (!signal.aborted) {
    const window = await readPendingKeys(client, cursor, KEYS_WINDOW);
    for (const event of window) {
      if (!isSkipped(event)) return cursor;
      cursor = BigInt(event.position);
    }
    if (window.length < KEYS_WINDOW) return cursor;
  }
  return cursor;
}

/** Publishes and marks events, and holds each partition from its first refusal on. @returns the accepted events. */
async function publishEvents(
  deps: LoopDependencies,
  events: readonly PendingEvent[],
): Promise<readonly PendingEvent[]> {
  const { publisher, metrics } = deps;
  if (events.length === 0) return [];
  const batches = new Map<number, PendingEvent[]>();
  for (const event of events) {
    const partition = publisher.toPartition(event);
    const batch = batches.get(partition);
    if (batch) batch.push(event);
    else batches.set(partition, [event]);
  }
  const { results, reconnectFault } = await publisher.publish(batches);
  const published = results.flatMap((result) => result.published);
  if (published.length > 0) {
    const ids = published.map(({ event_id: id }) => id);
    const delays = await markPublished(deps.client, ids);
    metrics?.published(delays);
  }
  if (reconnectFault) throw reconnectFault;
  for (const { partition, fault, published: done } of results) {
    // The events of a partition are published in order, so the first unpublished one follows the published ones.
    const next = batches.get(partition)?.[done.length];
    if (fault && next) hold(deps, partition, next, fault);
  }
  return published;
}

function hold(
  { held, outages, metrics, log }: LoopDependencies,
  partition: number,
  next: PendingEvent,
  fault: Error,
): void {
  metrics?.failed('partition');
  if (outages.isWorthLogging(`partition ${partition}`, fault))
    log.warn(
      { err: fault, partition, eventId: next.event_id },
      'Kafka does not accept the next event of a partition; its events wait',
    );
  held.set(partition, next);
}
