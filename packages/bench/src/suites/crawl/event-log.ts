import type { Fixture } from '../../runner/fixture.js';
import type { Site } from './environment.js';

interface Event {
  readonly eventId: string;
  readonly payload: { readonly orgId: string; readonly connector: string };
}

/** Reads a site's topic as an independent consumer until the end of the measurement. */
export async function readEvents({ keep }: Fixture, { kafka, topic }: Site) {
  /** When each event was first received, in milliseconds since the epoch, by event id. */
  const seenAt = new Map<string, number>();
  /** `<orgId>:<connector>` of each event. */
  const schedules = new Set<string>();
  const consumer = kafka.consumer({ groupId: `bench-${topic}`, maxWaitTimeInMs: 500 });
  await consumer.connect();
  keep({ stop: () => consumer.disconnect() });
  await consumer.subscribe({ topic, fromBeginning: true });
  const joined = new Promise((resolve) => consumer.on(consumer.events.GROUP_JOIN, resolve));
  await consumer.run({
    eachMessage: async ({ message }) => {
      const now = Date.now();
      const { eventId, payload } = JSON.parse(String(message.value)) as Event;
      if (!seenAt.has(eventId)) seenAt.set(eventId, now);
      schedules.add(`${payload.orgId}:${payload.connector}`);
      await Promise.resolve();
    },
  });
  await joined;
  return { seenAt, schedules };
}
