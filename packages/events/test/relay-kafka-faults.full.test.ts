import {
  describeWith,
  firstCopiesByKey,
  type OwnKafka,
  readTopic,
  startOwnKafka,
  type TopicReader,
  waitFor,
} from '@platform/testing';
import { createEventRelay, type EventRelay } from '../src/index.js';
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
describeWith('own-kafka', 'relay and a Kafka that fails', () => {
  let kafka: OwnKafka;
  let database: OutboxDatabase;
  let topic: string;
  let log: RecordingLog;
  let relay: EventRelay | undefined;
  let reader: TopicReader | undefined;

  beforeAll(async () => {
    kafka = await startOwnKafka();
  });
  afterAll(() => kafka?.close());
  beforeEach(async () => {
    topic = newTopic();
    log = createRecordingLog();
    database = await createOutboxDatabase();
  });
  afterEach(async () => {
    kafka.resume();
    await relay?.stop();
    await reader?.stop();
    await database.drop();
  });

  function start(): EventRelay {
    const connection = { connectionString: database.url, kafka: { brokers: [kafka.brokers] } };
    relay = createEventRelay({ ...connection, topic, partitions: 3, log });
    relay.start();
    return relay;
  }
  const allPublished = () =>
    waitFor(async () => (await database.countPending()) === 0, { what: 'publishing' });
  async function read(count: number): Promise<TopicReader> {
    reader = await readTopic({ brokers: [kafka.brokers] }, topic);
    const { messages } = reader;
    const ids = () => new Set(messages.map(({ event }) => event.eventId));
    await waitFor(() => ids().size >= count, { what: `${count} events` });
    return reader;
  }

  test('publishes all events in order after an outage of Kafka, with one warning for consecutive faults', async () => {
    start();
    await database.addMany(500, 10);
    await allPublished();
    for (const end of ['stop', 'kill'] as const) {
      await kafka[end]();
      await database.addMany(500, 10);
      await waitFor(() => relay?.state === 'waiting', { what: 'noticing' });
      await database.addMany(500, 10);
      expect(await database.countPending()).toBe(1_000);
      await kafka.start();
      const back = performance.now();
      await allPublished();
      process.stderr.write(
        `relay: caught up ${Math.round(performance.now() - back)} ms after Kafka was back\n`,
      );
    }
    const { messages } = await read(2_500);
    expect(firstCopiesByKey(messages)).toEqual(await database.idsByKey());
    expect(log.lines.filter(({ level }) => level === 'warn' || level === 'error')).toHaveLength(1);
  });

  test('a relay that starts before Kafka publishes once Kafka is available', async () => {
    await kafka.stop();
    start();
    await database.add('org-1');
    await waitFor(() => relay?.state === 'waiting', { what: 'noticing' });
    await kafka.start();
    await allPublished();
    expect((await read(1)).messages).toHaveLength(1);
  });

  test('sends events again that a hanging broker may have written, and keeps first copies in order', async () => {
    start();
    await database.addMany(500, 10);
    await allPublished();
    kafka.pause();
    await database.addMany(1_000, 10);
    await waitFor(() => log.lines.some(({ level }) => level === 'warn'), {
      what: 'noticing',
    });
    kafka.resume();
    await allPublished();
    const { messages } = await read(1_500);
    expect(firstCopiesByKey(messages)).toEqual(await database.idsByKey());
  });

  test('a refused event holds its partition, and all events follow in order when the topic allows it', async () => {
    const configEntries = [{ name: 'max.message.bytes', value: '20000' }];
    await createTopic([kafka.brokers], { topic, numPartitions: 2, configEntries });
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
    await waitFor(async () => (await database.countPending()) === 3, {
      what: 'the event before the refused one, and the other partition',
    });
    await database.add(other);
    await waitFor(async () => (await database.countPending()) === 3, { what: 'the later one' });
    const warnings = log.lines.filter(({ level }) => level === 'warn');
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.message).toContain('does not accept');

    await alterTopic([kafka.brokers], topic, { name: 'max.message.bytes', value: '1000000' });
    await allPublished();
    const { messages } = await read(6);
    expect(firstCopiesByKey(messages)).toEqual(await database.idsByKey());
    const inHeld = messages.filter(({ partition }) => partition === held);
    expect(inHeld.map(({ event }) => event.eventId)).toEqual(inOrder);
  });

  test('publishes the events of a held key to its new partition, in order, when the topic gains partitions', async () => {
    const configEntries = [{ name: 'max.message.bytes', value: '20000' }];
    await createTopic([kafka.brokers], { topic, numPartitions: 1, configEntries });
    start();
    await database.add('small');
    await allPublished();
    await addPartitions([kafka.brokers], topic, 8);
    const org = Array.from({ length: 8 }, (_, number) => 'x'.repeat(30_000) + number).find(
      (name) => toPartition(`${name}:files_1`, 8) !== 0,
    );
    if (org === undefined) throw new Error('every key is in partition 0');
    for (let count = 0; count < 3; count += 1) await database.add(org);
    await waitFor(() => log.lines.some(({ message }) => message.includes('does not accept')), {
      what: 'the refusal',
    });
    await alterTopic([kafka.brokers], topic, { name: 'max.message.bytes', value: '1000000' });
    await allPublished();
    const { messages } = await read(4);
    const key = `${org}:files_1`;
    expect(firstCopiesByKey(messages).get(key)).toEqual((await database.idsByKey()).get(key));
    const partitions = messages.filter((message) => message.key === key).map(({ partition }) => partition);
    expect(new Set(partitions)).toEqual(new Set([toPartition(key, 8)]));
  });

  test('creates a deleted topic again, and publishes all unacknowledged events to it', async () => {
    start();
    await database.addMany(100, 10);
    await allPublished();
    await deleteTopic([kafka.brokers], topic);
    await database.addMany(100, 10);
    await allPublished();
    const { messages } = await read(100);
    const later = [...(await database.idsByKey()).values()].flatMap((ids) => ids.slice(10)).toSorted();
    expect(messages.map(({ event }) => event.eventId).toSorted()).toEqual(later);
  });
});
