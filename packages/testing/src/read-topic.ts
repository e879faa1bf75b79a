import { randomUUID } from 'node:crypto';
import { Kafka, type KafkaConfig, type KafkaMessage, logLevel } from 'kafkajs';

/** The fields of a sync event that tests read. */
interface ReadEvent {
  readonly eventId: string;
  readonly eventType: string;
  readonly payload: { readonly orgId: string; readonly connector: string };
}

export interface ReadMessage {
  readonly key: string;
  readonly partition: number;
  readonly event: ReadEvent;
  readonly headers: Record<string, string>;
}

export interface TopicReader {
  /** The messages in the order of arrival, which is the topic's order within each key. */
  readonly messages: ReadMessage[];
  /** The value of each message, byte for byte. */
  readonly values: string[];
  stop(): Promise<void>;
}

/**
 * Reads a topic from its beginning, as any consumer does that knows Kafka alone.
 *
 * @throws when no broker accepts the connection.
 */
export async function readTopic(
  kafka: Pick<KafkaConfig, 'brokers' | 'ssl' | 'sasl'>,
  topic: string,
): Promise<TopicReader> {
  const consumer = new Kafka({ ...kafka, logLevel: logLevel.NOTHING }).consumer({
    groupId: randomUUID(),
    maxWaitTimeInMs: 100,
    retry: { retries: 20, maxRetryTime: 500 },
  });
  const messages: ReadMessage[] = [];
  const values: string[] = [];
  try {
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({
      eachMessage: async ({ message, partition }) => {
        values.push(String(message.value));
        messages.push(toRead(message, partition));
      },
    });
  } catch (error) {
    await consumer.disconnect();
    throw error;
  }
  return { messages, values, stop: () => consumer.disconnect() };
}

function toRead({ key, value, headers = {} }: KafkaMessage, partition: number): ReadMessage {
  const texts = Object.entries(headers).map(([name, text]) => [name, String(text)] as const);
  return {
    key: String(key),
    partition,
    event: JSON.parse(String(value)) as ReadEvent,
    headers: Object.fromEntries(texts),
  };
}

/** Returns the ids of each key's events in the order of their first copies. */
export function firstCopiesByKey(messages: readonly ReadMessage[]): Map<string, string[]> {
  const byKey = new Map<string, Set<string>>();
  for (const { key, event } of messages) byKey.set(key, (byKey.get(key) ?? new Set()).add(event.eventId));
  return new Map([...byKey].map(([key, ids]) => [key, [...ids]]));
}
