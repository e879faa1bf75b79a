import { firstCopiesByKey, type ReadMessage, readTopic, waitFor } from '@platform/testing';
import { createCrawls } from './crawls.js';
import type { Platform } from './platform.js';

/** Returns how many events of the outbox wait for Kafka or were accepted by it. */
export async function countEvents({ db }: Platform, state: 'waiting' | 'published'): Promise<number> {
  const condition = state === 'waiting' ? 'is null' : 'is not null';
  return (await db.query(`select from outbox.events where published_at ${condition}`)).rowCount ?? 0;
}

/** Expects a consistent state, and that every event has arrived in the order of its key. Returns all copies that arrived. */
export async function expectEventsArrived(given: {
  readonly platform: Platform;
  readonly brokers: string[];
  readonly topic: string;
}): Promise<ReadMessage['event'][]> {
  const { platform, brokers, topic } = given;
  const crawls = createCrawls(() => platform);
  await crawls.expectWhole();
  await waitFor(async () => (await countEvents(platform, 'waiting')) === 0, { what: 'publishing' });
  const { messages, stop } = await readTopic({ brokers }, topic);
  const total = await countEvents(platform, 'published');
  const ids = () => new Set(messages.map(({ event }) => event.eventId));
  await waitFor(() => ids().size === total, { what: `${total} events` });
  await stop();
  expect(firstCopiesByKey(messages)).toEqual(await crawls.eventsByKey());
  return messages.map(({ event }) => event);
}
