import { type OwnKafka, readTopic, startOwnKafka, type TopicReader } from '@platform/testing';
import { createEventRelay, type EventRelay, type EventRelayOptions } from '../../src/index.js';
import { createOutboxDatabase, type OutboxDatabase } from './outbox-database.js';
import { createTopic, newTopic } from './topic.js';

/** Gives the tests of a `describe` a cluster of two brokers and an outbox; relays and readers are stopped after them. */
export function useTwoBrokers() {
  let first: OwnKafka;
  let second: OwnKafka;
  let database: OutboxDatabase;
  const started: { stop(): Promise<void> }[] = [];
  beforeAll(async () => {
    first = await startOwnKafka();
    second = await startOwnKafka({ join: first });
    database = await createOutboxDatabase();
  });
  afterAll(async () => {
    for (const each of started) await each.stop();
    await database?.drop();
    await second?.close();
    await first?.close();
  });
  return {
    /** The address of the first broker, which stays up. */
    get brokers(): string[] {
      return [first.brokers];
    },
    get second(): OwnKafka {
      return second;
    },
    get database(): OutboxDatabase {
      return database;
    },
    /** Creates a topic with one replica per partition: partition 0 on the first broker, partition 1 on the second. */
    async createSplitTopic(): Promise<string> {
      const topic = newTopic();
      const replicaAssignment = [
        { partition: 0, replicas: [1] },
        { partition: 1, replicas: [2] },
      ];
      await createTopic([first.brokers], { topic, replicaAssignment });
      return topic;
    },
    /** Creates a relay, which the test starts. */
    createRelay(options: Pick<EventRelayOptions, 'topic' | 'log' | 'registry'>): EventRelay {
      const kafka = { brokers: [first.brokers] };
      const relay = createEventRelay({ ...options, connectionString: database.url, kafka });
      started.push(relay);
      return relay;
    },
    async readTopic(topic: string): Promise<TopicReader> {
      const reader = await readTopic({ brokers: [first.brokers] }, topic);
      started.push(reader);
      return reader;
    },
  };
}
