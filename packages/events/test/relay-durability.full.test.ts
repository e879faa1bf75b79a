import { describeWith, testKafka, waitFor } from '@platform/testing';
import { Kafka, logLevel } from 'kafkajs';
import { createEventRelay, type EventRelay } from '../src/index.js';
import { createOutboxDatabase, type OutboxDatabase } from './support/outbox-database.js';
import { createRecordingLog } from './support/recording-log.js';
import { createTopic, newTopic } from './support/topic.js';
import { useTwoBrokers } from './support/two-brokers.js';

const connect = (brokers: string[]) => new Kafka({ brokers, logLevel: logLevel.NOTHING });

async function findPartition(brokers: string[], topic: string) {
  const admin = connect(brokers).admin();
  await admin.connect();
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
  const [offsets] = await admin.fetchTopicOffsets(topic);
  await admin.disconnect();
  return { inSync: topics[0]?.partitions[0]?.isr.length, messages: Number(offsets?.high) };
}

describeWith('own-kafka', 'a topic that asks for two replicas in sync', () => {
  const site = useTwoBrokers();

  test('accepts no event while one of them is missing, and accepts it once it is back', async () => {
    const { database, brokers } = site;
    const topic = newTopic();
    const configEntries = [{ name: 'min.insync.replicas', value: '2' }];
    await createTopic(brokers, {
      topic,
      replicaAssignment: [{ partition: 0, replicas: [1, 2] }],
      configEntries,
    });
    await site.second.kill();
    await waitFor(async () => (await findPartition(brokers, topic)).inSync === 1, {
      what: 'one replica in sync',
    });

    // The broker accepts messages that require one acknowledgement, and refuses those that require all.
    const bystander = connect(brokers).producer({ retry: { retries: 0 } });
    await bystander.connect();
    await bystander.send({ topic, acks: 1, messages: [{ value: 'taken' }] });
    await expect(bystander.send({ topic, acks: -1, messages: [{ value: 'refused' }] })).rejects.toThrow();
    await bystander.disconnect();

    const log = createRecordingLog();
    await database.add('org-1', 'chat_1');
    site.createRelay({ topic, log }).start();
    await waitFor(() => log.lines.some(({ level }) => level === 'warn'), { what: 'a refusal' });
    expect(await database.countPending()).toBe(1);

    await site.second.start();
    await waitFor(async () => (await database.countPending()) === 0, { what: 'publishing' });
    expect((await findPartition(brokers, topic)).messages).toBe(2);
  });
});

describeWith('kafka', 'what the relay publishes', () => {
  let database: OutboxDatabase;
  let relay: EventRelay | undefined;

  beforeAll(async () => {
    database = await createOutboxDatabase();
  });
  afterAll(async () => {
    await relay?.stop();
    await database.drop();
  });

  test('has a producer id and a sequence number, by which the broker recognises a repetition', async () => {
    const { brokers } = await testKafka();
    const topic = newTopic();
    const log = createRecordingLog();
    relay = createEventRelay({
      connectionString: database.url,
      kafka: { brokers },
      topic,
      partitions: 1,
      log,
    });
    relay.start();
    for (let count = 0; count < 3; count += 1) {
      await database.add('org-1', 'chat_1');
      await waitFor(async () => (await database.countPending()) === 0, { what: 'publishing' });
    }
    const batches: { producerId: string; firstSequence: number }[] = [];
    const consumer = connect(brokers).consumer({ groupId: topic });
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
    await waitFor(() => batches.length === 3, { what: 'the messages' });
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
