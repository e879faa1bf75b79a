import {
  describeWith,
  firstCopiesByKey,
  readTopic,
  testKafka,
  type TopicReader,
  waitFor,
} from '@platform/testing';
import { Kafka, logLevel } from 'kafkajs';
import { Registry } from 'prom-client';
import { createEventRelay, type EventRelay, type EventRelayOptions } from '../src/index.js';
import { createOutboxDatabase, type OutboxDatabase } from './support/outbox-database.js';
import { createRecordingLog, type RecordingLog } from './support/recording-log.js';
import {
  addPartitions,
  alterTopic,
  createTopic,
  deleteTopic,
  newTopic,
  toPartition,
} from './support/topic.js';

// Waits are for events, not for a fast machine: a run beside others must pass too.
describeWith('kafka', 'relay', () => {
  let database: OutboxDatabase;
  let brokers: string[];
  let topic: string;
  let log: RecordingLog;
  const relays: EventRelay[] = [];
  const readers: TopicReader[] = [];

  beforeAll(async () => {
    ({ brokers } = await testKafka());
  });
  beforeEach(async () => {
    topic = newTopic();
    log = createRecordingLog();
    database = await createOutboxDatabase();
  });
  afterEach(async () => {
    await Promise.all([...relays.splice(0), ...readers.splice(0)].map((each) => each.stop()));
    await database.drop();
  });

  function start(options: Partial<EventRelayOptions> = {}): EventRelay {
    const connection = { connectionString: database.url, kafka: { brokers } };
    const relay = createEventRelay({ ...connection, topic, partitions: 3, log, ...options });
    relays.push(relay);
    relay.start();
    return relay;
  }
  const pending = (count: number, what = 'publishing') =>
    waitFor(async () => (await database.countPending()) === count, { what });
  const allPublished = () => pending(0);
  /** Reads the topic until it has so many messages. */
  async function read(count: number): Promise<TopicReader> {
    const reader = await readTopic({ brokers }, topic);
    readers.push(reader);
    await waitFor(() => reader.messages.length >= count, { what: `${count} messages` });
    return reader;
  }

  test('another consumer reads key, value and headers of an event as documented, byte for byte as stored', async () => {
    start();
    const event = await database.add('org-1', 'chat_1');
    await allPublished();
    await database.addMany(1, 1);
    await allPublished();
    const { messages, values } = await read(2);
    const [message] = messages.filter(({ key }) => key === 'org-1:chat_1');
    expect(message).toEqual({
      key: 'org-1:chat_1',
      partition: expect.any(Number) as number,
      event: { ...event, eventType: 'ReindexAllRecordEvent' },
      headers: {
        eventType: 'ReindexAllRecordEvent',
        timestamp: String(event.timestamp),
        eventId: event.eventId,
        ce_specversion: '1.0',
        ce_id: event.eventId,
        ce_type: 'ReindexAllRecordEvent',
        ce_source: '/organisations/org-1/connectors/chat_1',
        ce_time: new Date(event.timestamp).toISOString(),
        'content-type': 'application/json',
      },
    });
    const { rows } = await database.pool.query<{ text: string }>(
      'select event::text as text from outbox.events',
    );
    expect(values.toSorted()).toEqual(rows.map(({ text }) => text).toSorted());
  });

  test('several relays publish each event once and in order per key', async () => {
    const total = 3_000;
    const group = [start(), start(), start()];
    await waitFor(() => group.some(({ state }) => state === 'relaying'), { what: 'a leader' });
    for (let batch = 0; batch < 6; batch += 1) {
      await database.addMany(total / 6, 40);
      group[batch % 3]?.wake();
    }
    await allPublished();
    expect(group.filter(({ state }) => state === 'relaying')).toHaveLength(1);
    const { messages } = await read(total);
    expect(messages).toHaveLength(total);
    expect(firstCopiesByKey(messages)).toEqual(await database.idsByKey());
  });

  test('publishes an event whichever replica commits it, and counts it in the metrics', async () => {
    const registry = new Registry();
    const leader = start({ registry });
    await waitFor(() => leader.state === 'relaying', { what: 'leadership' });
    const follower = start();
    for (let round = 0; round <= 20; round += 1) {
      await database.add(`org-${round}`);
      (round % 2 ? leader : follower).wake();
    }
    await allPublished();
    // The counter is increased right after the rows were marked.
    const metrics = await waitFor(
      async () => {
        const text = await registry.metrics();
        return text.includes('platform_sync_event_published_total 21') && text;
      },
      { what: 'the count of the published' },
    );
    expect(metrics).toContain('platform_sync_event_outbox_pending 0');
    expect(metrics).toContain('platform_sync_event_relay_leading 1');
  });

  test('another replica takes over at once when the leader stops, and publishes what was committed meanwhile', async () => {
    const first = start();
    await waitFor(() => first.state === 'relaying', { what: 'leadership' });
    const second = start();
    await database.add('org-1');
    await first.stop();
    expect(first.state).toBe('stopped');
    await database.add('org-1');
    await waitFor(() => second.state === 'relaying', { what: 'the hand-over' });
    await allPublished();
    first.start();
    await first.stop();
  });

  test('publishes through any remaining broker', async () => {
    // Nothing listens on the first three.
    start({ kafka: { brokers: ['127.0.0.1:1', '127.0.0.1:2', '127.0.0.1:3', ...brokers] } });
    await database.addMany(10, 5);
    await allPublished();
    expect((await read(10)).messages).toHaveLength(10);
  });

  test('sends each batch with a producer id and a sequence number, by which the broker recognises a repetition', async () => {
    start({ partitions: 1 });
    for (let count = 0; count < 3; count += 1) {
      await database.add('org-1');
      await allPublished();
    }
    const batches: (readonly [producerId: number, sequence: number])[] = [];
    const consumer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).consumer({ groupId: topic });
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({
      eachMessage: async ({ message }) => {
        const { batchContext } = message as unknown as {
          batchContext: { producerId: string; firstSequence: number };
        };
        batches.push([Number(batchContext.producerId), batchContext.firstSequence]);
      },
    });
    await waitFor(() => batches.length === 3, { what: 'the messages' });
    await consumer.disconnect();
    const [producerId = -1] = batches[0] ?? [];
    // Without idempotence it is -1, and so is the sequence.
    expect(producerId).toBeGreaterThanOrEqual(0);
    expect(batches).toEqual([0, 1, 2].map((sequence) => [producerId, sequence]));
  });

  const SMALL = { name: 'max.message.bytes', value: '20000' };
  const LARGE = { ...SMALL, value: '1000000' };

  test('a refused event holds its partition, and all events follow in order when the topic allows it', async () => {
    await createTopic(brokers, { topic, numPartitions: 2, configEntries: [SMALL] });
    const large = 'x'.repeat(30_000);
    const held = toPartition(`${large}:files_1`, 2);
    const [neighbour = '', other = ''] = [held, 1 - held].map((partition) =>
      Array.from({ length: 20 }, (_, number) => `org-${number}`).find(
        (org) => toPartition(`${org}:files_1`, 2) === partition,
      ),
    );
    const inOrder = [];
    for (const org of [neighbour, large, neighbour, large]) inOrder.push((await database.add(org)).eventId);
    await database.add(other);
    start();
    await pending(3, 'the event before the refused one, and the other partition');
    await database.add(other);
    await pending(3, 'the later one');
    const warnings = log.lines.filter(({ level }) => level === 'warn');
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.message).toContain('does not accept');

    await alterTopic(brokers, topic, LARGE);
    await allPublished();
    const { messages } = await read(6);
    expect(firstCopiesByKey(messages)).toEqual(await database.idsByKey());
    const inHeld = messages.filter(({ partition }) => partition === held);
    expect(inHeld.map(({ event }) => event.eventId)).toEqual(inOrder);
  });

  test('publishes the events of a held key to its new partition, in order, when the topic gains partitions', async () => {
    await createTopic(brokers, { topic, numPartitions: 1, configEntries: [SMALL] });
    start();
    await database.add('small');
    await allPublished();
    await addPartitions(brokers, topic, 8);
    const org = Array.from({ length: 8 }, (_, number) => 'x'.repeat(30_000) + number).find(
      (name) => toPartition(`${name}:files_1`, 8) !== 0,
    );
    if (org === undefined) throw new Error('every key is in partition 0');
    for (let count = 0; count < 3; count += 1) await database.add(org);
    await waitFor(() => log.lines.some(({ message }) => message.includes('does not accept')), {
      what: 'the refusal',
    });
    await alterTopic(brokers, topic, LARGE);
    await allPublished();
    const { messages } = await read(4);
    const key = `${org}:files_1`;
    expect(firstCopiesByKey(messages).get(key)).toEqual((await database.idsByKey()).get(key));
    const partitions = messages.filter((message) => message.key === key).map(({ partition }) => partition);
    expect(new Set(partitions)).toEqual(new Set([toPartition(key, 8)]));
  });

  test('EVT-39 uses partitions that are added, without a fault and without a restart, and warns of nothing', async () => {
    start({ partitions: 1, topicCheckMs: 100 });
    await database.add('small');
    await allPublished();
    await addPartitions(brokers, topic, 8);
    const isNoticed = () => log.lines.some(({ detail }) => detail['partitionCount'] === 8);
    await waitFor(isNoticed, { what: 'the partitions' });
    const orgs = ['a', 'b', 'c', 'd', 'e'];
    for (const org of orgs) await database.add(org);
    await allPublished();
    const { messages } = await read(1 + orgs.length);
    const later = messages.filter(({ key }) => !key.startsWith('small'));
    expect(later.map(({ partition }) => partition)).toEqual(later.map(({ key }) => toPartition(key, 8)));
    expect(log.lines.filter(({ level }) => level !== 'info')).toEqual([]);
  });

  test('creates a deleted topic again, and publishes all unacknowledged events to it', async () => {
    start();
    await database.addMany(100, 10);
    await allPublished();
    await deleteTopic(brokers, topic);
    await database.addMany(100, 10);
    await allPublished();
    const { messages } = await read(100);
    const later = [...(await database.idsByKey()).values()].flatMap((ids) => ids.slice(10)).toSorted();
    expect(messages.map(({ event }) => event.eventId).toSorted()).toEqual(later);
  });

  test('the patched kafkajs sets no timers for an idle connection', async () => {
    const producer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).producer();
    await producer.connect();
    const timers = jest.spyOn(globalThis, 'setTimeout');
    await new Promise((resolve) => setTimeout(resolve, 500));
    const count = timers.mock.calls.length;
    timers.mockRestore();
    await producer.disconnect();
    expect(count).toBeLessThan(20);
  });
});
