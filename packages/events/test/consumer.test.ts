import { randomUUID } from 'node:crypto';
import { describeWith, testKafka, waitFor } from '@platform/testing';
import { Kafka, logLevel, type Producer } from 'kafkajs';
import {
  createDedupe,
  createSyncEvent,
  createSyncEventConsumer,
  type InvalidMessage,
  type SyncEvent,
  type SyncEventConsumer,
  toKafkaMessage,
} from '../src/index.js';
import { createTopic, newTopic } from './support/topic.js';

test('remembers a bounded number of handled ids, and forgets the oldest first', () => {
  const dedupe = createDedupe({ capacity: 3 });
  for (const id of ['a', 'b', 'c', 'a', 'd']) dedupe.add(id);
  expect(['a', 'b', 'c', 'd'].filter((id) => dedupe.has(id))).toEqual(['a', 'c', 'd']);
  expect(dedupe.size).toBe(3);
});

describeWith('kafka', 'consumer', () => {
  let brokers: string[];
  let topic: string;
  let producer: Producer;
  const consumers: SyncEventConsumer[] = [];
  const event = (orgId: string) => createSyncEvent({ orgId, connector: 'code_1', now: Date.now() });

  beforeAll(async () => {
    ({ brokers } = await testKafka());
    producer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).producer();
    await producer.connect();
  });
  afterAll(() => producer?.disconnect());
  beforeEach(async () => {
    topic = newTopic();
    await createTopic(brokers, { topic, numPartitions: 1 });
  });
  afterEach(() => Promise.all(consumers.splice(0).map((consumer) => consumer.stop())));

  async function consume(handle: (event: SyncEvent) => Promise<void> | void, groupId: string = randomUUID()) {
    const invalid: InvalidMessage[] = [];
    const onInvalid = (message: InvalidMessage) => void invalid.push(message);
    const consumer = createSyncEventConsumer({ kafka: { brokers }, groupId, topic, handle, onInvalid });
    consumers.push(consumer);
    await consumer.start();
    return { consumer, invalid };
  }

  test('handles duplicates once and in order, and passes on invalid messages without stopping', async () => {
    const events = [event('org-1'), event('org-2'), event('org-1')];
    const messages = events.map(toKafkaMessage);
    const [first, ...rest] = messages;
    const poison = [{ value: 'oops' }, { key: 'org-1:code_1', value: null }];
    await producer.send({
      topic,
      messages: [...(first ? [first] : []), ...messages, ...poison, ...messages, ...rest],
    });
    const last = event('org-3');
    await producer.send({ topic, messages: [toKafkaMessage(last)] });
    const handled: SyncEvent[] = [];
    const { invalid } = await consume((each) => void handled.push(each));
    await waitFor(() => handled.some(({ eventId }) => eventId === last.eventId), {
      what: 'the last event',
    });
    expect(handled).toEqual([...events, last]);
    expect(invalid.map(({ reason }) => reason)).toEqual(['not JSON', 'unknown eventType']);
  });

  test('retries an event whose handling failed before later ones', async () => {
    const events = [event('org-1'), event('org-1')];
    await producer.send({ topic, messages: events.map(toKafkaMessage) });
    const calls: string[] = [];
    await consume((each) => {
      calls.push(each.eventId);
      if (calls.length <= 2) throw new Error('not now');
    });
    const [first, second] = events.map(({ eventId }) => eventId);
    await waitFor(() => calls.length === 4, { what: 'the second event' });
    expect(calls).toEqual([first, first, first, second]);
  });

  test('continues where it was stopped', async () => {
    const groupId = randomUUID();
    const handled: string[] = [];
    const handle = ({ payload }: SyncEvent) => void handled.push(payload.orgId);
    for (const orgId of ['org-1', 'org-2']) {
      await producer.send({ topic, messages: [toKafkaMessage(event(orgId))] });
      const { consumer } = await consume(handle, groupId);
      await waitFor(() => handled.includes(orgId), { what: orgId });
      await consumer.stop();
    }
    expect(handled).toEqual(['org-1', 'org-2']);
  });

  test('sets no timers for an idle connection (the patch of kafkajs)', async () => {
    const { setTimeout: original } = globalThis;
    const kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING }).producer();
    await kafka.connect();
    let timers = 0;
    globalThis.setTimeout = ((...args: Parameters<typeof original>) => {
      timers += 1;
      return original(...args);
    }) as typeof original;
    await new Promise((resolve) => original(resolve, 500));
    globalThis.setTimeout = original;
    await kafka.disconnect();
    expect(timers).toBeLessThan(20);
  });
});
