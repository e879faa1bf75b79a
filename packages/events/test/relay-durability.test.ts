import { describeWith, testKafka, waitFor } from '@platform/testing';
import { ConfigResourceTypes, Kafka, logLevel } from 'kafkajs';
import { createEventRelay, type EventRelay } from '../src/index.js';
import { createOutboxDatabase, type OutboxDatabase } from './support/outbox-database.js';
import { createRecordingLog, type RecordingLog } from './support/recording-log.js';
import { newTopic } from './support/topic.js';

jest.setTimeout(60_000);

/** What the broker itself is told with each batch, and does with it. */
describeWith('kafka', 'the durability of what is published', () => {
  let database: OutboxDatabase;
  let kafka: Kafka;
  let topic: string;
  let relay: EventRelay | undefined;
  let log: RecordingLog;

  beforeEach(async () => {
    const { brokers } = await testKafka();
    kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING });
    topic = newTopic();
    database = await createOutboxDatabase();
    log = createRecordingLog();
    relay = createEventRelay({
      connectionString: database.url,
      kafka: { brokers },
      topic,
      partitions: 1,
      log,
    });
  });
  afterEach(async () => {
    await relay?.stop();
    await database.drop();
  });

  async function createTopic(minInSyncReplicas: number): Promise<void> {
    const admin = kafka.admin();
    await admin.connect();
    const configEntries = [{ name: 'min.insync.replicas', value: String(minInSyncReplicas) }];
    await admin.createTopics({
      topics: [{ topic, numPartitions: 1, replicationFactor: 1, configEntries }],
      waitForLeaders: true,
    });
    await admin.disconnect();
  }
  async function countMessages(): Promise<number> {
    const admin = kafka.admin();
    await admin.connect();
    const [partition] = await admin.fetchTopicOffsets(topic);
    await admin.disconnect();
    return Number(partition?.high);
  }
  async function allowOneReplica(): Promise<void> {
    const admin = kafka.admin();
    await admin.connect();
    const configEntries = [{ name: 'min.insync.replicas', value: '1' }];
    await admin.alterConfigs({
      validateOnly: false,
      resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configEntries }],
    });
    await admin.disconnect();
  }

  test('an event is published once all replicas that the topic asks for have it, and waits until then', async () => {
    // Of the two that must have it one is missing: a broker takes what asks for one acknowledgement, and refuses what asks for all.
    await createTopic(2);
    const bystander = kafka.producer({ retry: { retries: 0 }, allowAutoTopicCreation: false });
    await bystander.connect();
    await bystander.send({ topic, acks: 1, messages: [{ value: 'taken' }] });
    await expect(bystander.send({ topic, acks: -1, messages: [{ value: 'refused' }] })).rejects.toThrow();
    await bystander.disconnect();

    await database.add('org-1', 'chat_1');
    relay?.start();
    await waitFor(() => log.lines.some(({ level }) => level === 'warn'), {
      what: 'a refusal',
      timeoutMs: 30_000,
    });
    expect([await countMessages(), await database.countPending()]).toEqual([1, 1]);
    await allowOneReplica();
    await waitFor(async () => (await database.countPending()) === 0, {
      what: 'publishing',
      timeoutMs: 40_000,
    });
    expect(await countMessages()).toBe(2);
  });

  test('every batch carries the id of its producer and a sequence number, by which the broker knows a repetition', async () => {
    await createTopic(1);
    relay?.start();
    for (let count = 0; count < 3; count += 1) {
      await database.add('org-1', 'chat_1');
      await waitFor(async () => (await database.countPending()) === 0, { what: 'publishing' });
    }
    const batches: { producerId: string; firstSequence: number }[] = [];
    const consumer = kafka.consumer({ groupId: topic });
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({
      eachBatch: ({ batch }) => {
        for (const message of batch.messages) {
          const { batchContext } = message as unknown as {
            batchContext: { producerId: string; firstSequence: number };
          };
          batches.push({
            producerId: batchContext.producerId,
            firstSequence: batchContext.firstSequence,
          });
        }
        return Promise.resolve();
      },
    });
    await waitFor(() => batches.length === 3, { what: 'the messages', timeoutMs: 30_000 });
    await consumer.disconnect();
    const [producerId] = batches.map((batch) => Number(batch.producerId));
    // Without idempotence it is -1, and so is the sequence.
    expect(producerId).toBeGreaterThanOrEqual(0);
    expect(batches.map((batch) => [Number(batch.producerId), batch.firstSequence])).toEqual([
      [producerId, 0],
      [producerId, 1],
      [producerId, 2],
    ]);
  });
});
