import { setTimeout as delay } from 'node:timers/promises';
import { createProbe, type ProbeDependencies } from './probe.js';
import type { Publisher } from './publisher.js';
import { markPublished, type PendingEvent, readPending, readPendingKeys } from './queries.js';

interface LoopDependencies extends ProbeDependencies {
  /** Returns the error that ended the client's connection, if any. */
  readonly failed: () => Error | undefined;
  readonly publisher: Publisher;
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

/**
 * Does the leader's work until it is stopped or something fails.
 *
 * Windows of pending events are read forward by position, and none is read twice: an event behind the cursor is
 * published, or belongs to a backlog that remembers where it begins. While a backlog is held, one event of it is sent now
 * and then. Once that is accepted, the backlog is read forward, too, alternating with the windows of the other events. The
 * events of a key are therefore always sent in order.
 */
export async function relayUntilStopped(deps: LoopDependencies): Promise<void> {
  const { client, backlogs, wakeSignal } = deps;
  const probe = createProbe(deps);
  let cursor = 0n;
  try {
    while (!deps.signal.aborted) {
      const fault = deps.failed() ?? probe.failed();
      if (fault) throw fault;
      probe.start();
      const isDraining = await drain(deps, cursor);
      const window = await readPending(client, cursor, WINDOW);
      const events = window.filter((event) => !backlogs.of(event));
      cursor = BigInt(window.at(-1)?.position ?? cursor);
      await publishEvents(deps, events);
      const isFull = window.length === WINDOW;
      if (isFull && events.length === 0)
        cursor = await skip(deps, cursor, (event) => backlogs.of(event) !== undefined);
      if (isFull || isDraining) continue;
      if (window.length > 0) await delay(LINGER_MS);
      await wakeSignal.sleep(Math.min(IDLE_MS, backlogs.nextDueMs() ?? IDLE_MS));
    }
  } finally {
    await probe.close();
  }
}

/** Publishes the next window of the draining backlogs. @returns whether there was one. */
async function drain(deps: LoopDependencies, end: bigint): Promise<boolean> {
  const { client, backlogs } = deps;
  const from = backlogs.drainFrom(end);
  if (from === undefined) return false;
  const window = await readPending(client, from, WINDOW, end);
  const events = window.filter((event) => backlogs.isDrainedFrom(event, from));
  const isFull = window.length === WINDOW;
  backlogs.advance(from, isFull ? BigInt(window.at(-1)?.position ?? end) : end);
  await publishEvents(deps, events);
  return true;
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

async function publishEvents(deps: LoopDependencies, events: readonly PendingEvent[]): Promise<void> {
  const { publisher, backlogs, metrics, log } = deps;
  const batches = new Map<number, PendingEvent[]>();
  for (const event of events) {
    const partition = publisher.toPartition(event);
    const batch = batches.get(partition);
    if (batch) batch.push(event);
    else batches.set(partition, [event]);
  }
  if (batches.size === 0) return;
  const { results, reconnectFault } = await publisher.publish(batches);
  const published = results.flatMap((result) => result.published);
  if (published.length > 0) {
    await markPublished(
      deps.client,
      published.map(({ event_id: id }) => id),
    );
    const now = Date.now();
    metrics?.published(published.map(({ created_at: at }) => Math.max(0, now - at.getTime()) / 1_000));
  }
  if (reconnectFault) throw reconnectFault;
  for (const { partition, fault, published: done } of results) {
    // The events of a partition are published in order, so the first unpublished one follows the published ones.
    const first = batches.get(partition)?.[done.length];
    if (!fault || !first) continue;
    metrics?.failed('partition');
    if (backlogs.hold(partition, first))
      log.warn(
        { err: fault, partition, eventId: first.event_id },
        'Kafka does not accept the next event of a partition; its events wait',
      );
  }
}
