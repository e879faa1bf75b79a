import { setTimeout as delay } from 'node:timers/promises';
import type { Kafka } from 'kafkajs';

/** The events that an independent consumer has received from a topic. */
export interface EventLog {
  /** When each event was first received, in milliseconds since the epoch, by event id. */
  readonly seenAt: ReadonlyMap<string, number>;
  /** `<orgId>:<connector>` of each event. */
  readonly keys: ReadonlySet<string>;
  waitFor(count: number, timeoutMs: number): Promise<void>;
  stop(): Promise<void>;
}

interface Event {
  readonly eventId: string;
  readonly payload: { readonly orgId: string; readonly connector: string };
}

const POLL_MS = 100;

export async function readEvents(kafka: Kafka, topic: string): Promise<EventLog> {
  const seenAt = new Map<string, number>();
  const keys = new Set<string>();
  const consumer = kafka.consumer({ groupId: `bench-${topic}`, maxWaitTimeInMs: 500 });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  const joined = new Promise<void>((resolve) => {
    consumer.on(consumer.events.GROUP_JOIN, () => {
      resolve();
    });
  });
  await consumer.run({
    eachMessage: async ({ message }) => {
      const now = Date.now();
      const { eventId, payload } = JSON.parse(String(message.value)) as Event;
      if (!seenAt.has(eventId)) seenAt.set(eventId, now);
      keys.add(`${payload.orgId}:${payload.connector}`);
      await Promise.resolve();
    },
  });
  await joined;
  return {
    seenAt,
    keys,
    async waitFor(count, timeoutMs) {
      const deadline = performance.now() + timeoutMs;
      while (seenAt.size < count) {
        if (performance.now() > deadline)
          throw new Error(`${seenAt.size} of ${count} events within ${timeoutMs} ms`);
        await delay(POLL_MS);
      }
    },
    stop: () => consumer.disconnect(),
  };
}
