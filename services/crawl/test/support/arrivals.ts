import { randomUUID } from 'node:crypto';
import { createSyncEventConsumer, toKey, type SyncEvent } from '@platform/events';
import { waitFor } from '@platform/testing';
import { createCrawls } from './crawls.js';
import type { Platform } from './platform.js';

/** Returns how many events of the outbox wait for Kafka or were accepted by it. */
export async function countEvents({ db }: Platform, state: 'waiting' | 'published'): Promise<number> {
  const condition = state === 'waiting' ? 'is null' : 'is not null';
  return (await db.query(`select from sync_events.outbox where published_at ${condition}`)).rowCount ?? 0;
}

/** Expects a consistent state, and that every event has arrived in the order of its key. Returns all copies that arrived. */
export async function expectEventsArrived(given: {
  readonly platform: Platform;
  readonly brokers: string[];
  readonly topic: string;
}): Promise<SyncEvent[]> {
  const { platform, brokers, topic } = given;
  const crawls = createCrawls(() => platform);
  await crawls.expectWhole();
  await waitFor(async () => (await countEvents(platform, 'waiting')) === 0, { what: 'publishing' });
  const arrived: SyncEvent[] = [];
  const consumer = createSyncEventConsumer({
    kafka: { brokers },
    groupId: randomUUID(),
    topic,
    handle: (event) => void arrived.push(event),
    onInvalid: ({ reason }) => {
      throw new Error(reason);
    },
    // Duplicates are collected too, in order to count them.
    dedupe: { has: () => false, add: () => undefined, size: 0 },
  });
  await consumer.start();
  const total = await countEvents(platform, 'published');
  const ids = () => new Set(arrived.map(({ eventId }) => eventId));
  await waitFor(() => ids().size === total, { what: `${total} events` });
  await consumer.stop();
  const byKey = new Map<string, Set<string>>();
  for (const event of arrived)
    byKey.set(toKey(event), (byKey.get(toKey(event)) ?? new Set()).add(event.eventId));
  const firstCopies = new Map([...byKey].map(([key, eventIds]) => [key, [...eventIds]]));
  expect(firstCopies).toEqual(await crawls.eventsByKey());
  return arrived;
}
