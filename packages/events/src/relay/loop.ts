import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@platform/service-kit';
import type pg from 'pg';
import type { Alarm } from './alarm.js';
import type { Holds } from './holds.js';
import type { LaneResult } from './lane.js';
import type { RelayMetrics } from './metrics.js';
import type { Publisher } from './publisher.js';
import { markPublished, type PendingEvent, readPending } from './queries.js';

interface LoopDependencies {
  readonly client: pg.Client;
  /** What ended the client's connection, if anything has. */
  readonly failed: () => Error | undefined;
  readonly publisher: Publisher;
  readonly holds: Holds;
  readonly alarm: Alarm;
  readonly metrics: RelayMetrics | undefined;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly signal: AbortSignal;
}

/** Read, sent and marked together: some 200 kB, below the broker's default limit of 1 MB for a batch. */
const WINDOW = 500;

/** A busy outbox is read at most 100 times a second: fewer, larger batches. The first event after a rest goes at once. */
const LINGER_MS = 10;

/** Should a notice be lost, this is how late an event is. */
const IDLE_MS = 500;

const BEGINNING = '0';

/**
 * The leader's work, until it is told to stop or something fails.
 *
 * Windows of pending events are read forward by position. An event behind the cursor is published or held, so when
 * a hold ends the cursor goes back to the beginning; a key's events are therefore always sent in their order.
 */
export async function relayUntilStopped(deps: LoopDependencies): Promise<void> {
  const { client, holds, alarm } = deps;
  let cursor = BEGINNING;
  while (!deps.signal.aborted) {
    const fault = deps.failed();
    if (fault) throw fault;
    if (holds.releaseDue()) cursor = BEGINNING;
    const window = await readPending(client, cursor, WINDOW);
    await publishWindow(deps, window);
    cursor = window.at(-1)?.position ?? cursor;
    if (window.length === WINDOW) continue;
    if (window.length > 0) await delay(LINGER_MS);
    await alarm.sleep(Math.min(IDLE_MS, holds.nextDueMs() ?? IDLE_MS));
  }
}

async function publishWindow(deps: LoopDependencies, window: readonly PendingEvent[]): Promise<void> {
  const { publisher, holds, metrics } = deps;
  const lanes = new Map<number, PendingEvent[]>();
  for (const event of window) {
    const partition = publisher.partitionOf(event);
    if (holds.has('partition', partition) || holds.has('key', event.event_key)) continue;
    const lane = lanes.get(partition);
    if (lane) lane.push(event);
    else lanes.set(partition, [event]);
  }
  if (lanes.size === 0) return;
  const { results, reconnectFault } = await publisher.publish(lanes);
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
  for (const result of results) noteResult(deps, result);
}

function noteResult({ holds, log, metrics }: LoopDependencies, result: LaneResult): void {
  const { partition, fault } = result;
  for (const { event_key: key } of result.published)
    if (holds.clear('key', key)) log.info({ key }, 'sync events of a key flow again');
  for (const { event, reason } of result.refused) {
    metrics?.failed('refused');
    const { event_id: eventId, event_key: key } = event;
    if (holds.hold('key', key))
      log.error(
        { err: reason, eventId, key },
        'Kafka refuses a sync event: it and what follows in its key wait',
      );
  }
  if (fault) {
    metrics?.failed('partition');
    if (holds.hold('partition', partition))
      log.warn({ err: fault, partition }, 'sync events of a partition wait: Kafka does not take them');
  } else if (holds.clear('partition', partition))
    log.info({ partition }, 'sync events of a partition flow again');
}
