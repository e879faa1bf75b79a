import { randomUUID } from 'node:crypto';
import {
  type Admin,
  ConfigResourceTypes,
  type ITopicConfig,
  Kafka,
  type KafkaMessage,
  logLevel,
  Partitioners,
} from 'kafkajs';
import type { SyncEvent } from '../../src/index.js';

/** A message as any other consumer sees it. */
export interface ReadMessage {
  readonly key: string;
  readonly partition: number;
  readonly event: SyncEvent;
  readonly headers: Record<string, string>;
}

const connect = (brokers: string[]) => new Kafka({ brokers, logLevel: logLevel.NOTHING });

/** Returns a topic name that no other test uses. */
export const newTopic = (): string => `sync-events-${randomUUID()}`;

async function administer(brokers: string[], work: (admin: Admin) => Promise<unknown>): Promise<void> {
  const admin = connect(brokers).admin();
  await admin.connect();
  await work(admin);
  await admin.disconnect();
}

/** Creates a topic with the given settings. */
export const createTopic = (brokers: string[], config: ITopicConfig): Promise<void> =>
  administer(brokers, (admin) => admin.createTopics({ topics: [config], waitForLeaders: true }));

export const deleteTopic = (brokers: string[], topic: string): Promise<void> =>
  administer(brokers, (admin) => admin.deleteTopics({ topics: [topic] }));

/** Changes one setting of a topic. */
export const alterTopic = (
  brokers: string[],
  topic: string,
  entry: { readonly name: string; readonly value: string },
): Promise<void> =>
  administer(brokers, (admin) =>
    admin.alterConfigs({
      validateOnly: false,
      resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configEntries: [entry] }],
    }),
  );

/** Increases the partitions of the topic to `count`. */
export const addPartitions = (brokers: string[], topic: string, count: number): Promise<void> =>
  administer(brokers, (admin) => admin.createPartitions({ topicPartitions: [{ topic, count }] }));

const choosePartition = Partitioners.DefaultPartitioner();

/** Returns the partition of a key in a topic of `count` partitions. */
export function toPartition(key: string, count: number): number {
  const partitionMetadata = Array.from({ length: count }, (_, partitionId) => ({
    partitionId,
    partitionErrorCode: 0,
    leader: 0,
    replicas: [],
    isr: [],
  }));
  return choosePartition({ topic: '', partitionMetadata, message: { key, value: null } });
}

/** Returns how many of a topic's partitions have no leader. */
export async function countLeaderless(brokers: string[], topic: string): Promise<number> {
  let count = 0;
  await administer(brokers, async (admin) => {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    count = topics[0]?.partitions.filter(({ leader }) => leader === -1).length ?? 0;
  });
  return count;
}

export interface TopicReader {
  /** The messages in the order of arrival, which is the topic's order within each key. */
  readonly messages: ReadMessage[];
  /** The value of each message, byte for byte. */
  readonly values: string[];
  stop(): Promise<void>;
}

/** Reads a topic from its beginning with a consumer that does not use this package. */
export async function readTopic(brokers: string[], topic: string): Promise<TopicReader> {
  const consumer = connect(brokers).consumer({
    groupId: randomUUID(),
    maxWaitTimeInMs: 100,
    retry: { retries: 20, maxRetryTime: 500 },
  });
  const messages: ReadMessage[] = [];
  const values: string[] = [];
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ message, partition }) => {
      values.push(String(message.value));
      messages.push(toRead(message, partition));
    },
  });
  return { messages, values, stop: () => consumer.disconnect() };
}

function toRead({ key, value, headers = {} }: KafkaMessage, partition: number): ReadMessage {
  const texts = Object.entries(headers).map(([name, text]) => [name, String(text)] as const);
  return {
    key: String(key),
    partition,
    event: JSON.parse(String(value)) as SyncEvent,
    headers: Object.fromEntries(texts),
  };
}

/** Returns the ids of each key in the order of their first copies. */
export function firstCopiesByKey(messages: readonly ReadMessage[]): Map<string, string[]> {
  const byKey = new Map<string, Set<string>>();
  for (const { key, event } of messages) byKey.set(key, (byKey.get(key) ?? new Set()).add(event.eventId));
  return new Map([...byKey].map(([key, ids]) => [key, [...ids]]));
}
