import {
  describeWith,
  firstCopiesByKey,
  type OwnKafka,
  readTopic,
  startOwnKafka,
  waitFor,
} from '@platform/testing';
import { Kafka, logLevel } from 'kafkajs';
import pg from 'pg';
import { Registry } from 'prom-client';
import { createEventRelay, type EventRelay, type EventRelayOptions } from '../src/index.js';
import { findReason } from '../src/relay/outage-log.js';
import { createOutboxDatabase, type OutboxDatabase } from './support/outbox-database.js';
import { createRecordingLog, type RecordingLog } from './support/recording-log.js';
import { createTopic, describePartitions, newTopic, toPartition } from './support/topic.js';

/** `RELAY_BACKLOG=1000000` measures the backlog of a day's outage; the guarantee is the same with fewer events. */
const BACKLOG = Number(process.env['RELAY_BACKLOG'] ?? 12_000);
const SLOW = { patienceMs: 60_000 + BACKLOG / 5 };

// Waits are for events, not for a fast machine: a run beside others must pass too.
describeWith('own-kafka', 'relay and a Kafka that fails', () => {
  /** The controller of the cluster, which stays up. */
  let first: OwnKafka;
  let second: OwnKafka;
  let database: OutboxDatabase;
  let log: RecordingLog;
  let relay: EventRelay | undefined;

  beforeAll(async () => {
    // So long, the cluster counts on a broker that no longer answers.
    first = await startOwnKafka({ settings: { 'broker.session.timeout.ms': '8000' } });
    second = await startOwnKafka({ join: first });
  });
  afterAll(async () => {
    await second?.close();
    await first?.close();
  });

  /** Creates a topic whose partitions have one replica each, on these brokers. */
  async function createTopicOn(...brokers: readonly (1 | 2)[]): Promise<string> {
    const topic = newTopic();
    const replicaAssignment = brokers.map((broker, partition) => ({ partition, replicas: [broker] }));
    await createTopic([first.brokers], { topic, replicaAssignment });
    return topic;
  }

  async function open(): Promise<void> {
    database = await createOutboxDatabase();
    log = createRecordingLog();
  }
  async function close(): Promise<void> {
    await relay?.stop();
    await database.drop();
  }
  function start(
    brokers: readonly OwnKafka[],
    options: Pick<EventRelayOptions, 'topic' | 'registry' | 'startGraceMs'>,
  ): void {
    const kafka = { brokers: brokers.map((each) => each.brokers) };
    relay = createEventRelay({ ...options, connectionString: database.url, kafka, log });
    relay.start();
  }

  const warnings = () => log.lines.filter(({ level }) => level !== 'info').map(({ message }) => message);
  const noticed = () => waitFor(() => warnings().length > 0, { what: 'noticing' });
  const allPublished = () =>
    waitFor(async () => (await database.countPending()) === 0, { what: 'publishing', ...SLOW });
  /** Waits until only events of partitions on the second broker are pending, which are those from 1 on. */
  const othersPublished = (partitions: number) =>
    waitFor(async () => (await database.pendingKeys()).every((key) => toPartition(key, partitions) > 0), {
      what: 'the events of the others',
      // Each reconnection waits for the timeouts of a broker that hangs.
      patienceMs: 180_000,
    });

  /** Expects the topic to have all events of the outbox, and of each key the first copies in order. */
  async function expectAllInOrder(topic: string): Promise<void> {
    const reader = await readTopic({ brokers: [first.brokers] }, topic);
    try {
      const expected = await database.idsByKey();
      const total = [...expected.values()].flat().length;
      const ids = () => new Set(reader.messages.map(({ event }) => event.eventId));
      await waitFor(() => ids().size === total, { what: 'all events', ...SLOW });
      expect(firstCopiesByKey(reader.messages)).toEqual(expected);
    } finally {
      await reader.stop();
    }
  }

  describe('in which one broker is lost', () => {
    let topic: string;
    let registry: Registry;
    const inSync = {
      topic: newTopic(),
      log: createRecordingLog(),
      eventId: '',
      database: undefined as OutboxDatabase | undefined,
      relay: undefined as EventRelay | undefined,
    };
    beforeAll(async () => {
      topic = await createTopicOn(1, 2);
      // A topic of others, which will have no leader at all.
      await createTopicOn(2);
      registry = new Registry();
      const configEntries = [{ name: 'min.insync.replicas', value: '2' }];
      const replicaAssignment = [{ partition: 0, replicas: [1, 2] }];
      await createTopic([first.brokers], { topic: inSync.topic, replicaAssignment, configEntries });
      await open();
      inSync.database = await createOutboxDatabase();
    });
    afterAll(async () => {
      await close();
      await inSync.relay?.stop();
      await inSync.database?.drop();
    });

    test('publishes to the others while the cluster still counts on it, and after it has given it up', async () => {
      start([first, second], { topic, registry });
      await database.addMany(100, 20);
      await allPublished();
      await second.kill();
      for (let round = 0; round < 3; round += 1) {
        await database.addMany(100, 20);
        await othersPublished(2);
      }
      await noticed();
      const isGivenUp = async () =>
        (await describePartitions([first.brokers], topic)).some(({ leader }) => leader === -1);
      await waitFor(isGivenUp, { what: 'giving the broker up' });
      await database.addMany(100, 20);
      await othersPublished(2);
      expect(await database.countPending()).toBeGreaterThan(0);
      expect(new Set(warnings())).toEqual(
        new Set(['Kafka does not accept the next event of a partition; its events wait']),
      );
    });

    test('connects while a topic of others has no leader', async () => {
      await relay?.stop();
      registry = new Registry();
      start([first, second], { topic, registry });
      const before = await database.countPending();
      await database.addMany(100, 20);
      await othersPublished(2);
      expect(await database.countPending()).toBeLessThan(before + 100);
    });

    test('reads a long backlog once, and delays no other event by it', async () => {
      const orgs = Array.from({ length: 100 }, (_, number) => `org-${number}`);
      const isHeld = (org: string) => toPartition(`${org}:files_1`, 2) === 1;
      await database.addPlaced(BACKLOG, orgs.filter(isHeld).slice(0, 20));
      const healthy = orgs.find((org) => !isHeld(org)) ?? '';
      const publishOther = async () => {
        await database.add(healthy);
        relay?.wake();
        await othersPublished(2);
      };
      const countFailures = async () => {
        const metric = await registry.getSingleMetric('platform_sync_event_publish_failures_total')?.get();
        return metric?.values.find(({ labels }) => labels['reason'] === 'partition')?.value ?? 0;
      };
      await publishOther();

      const queries = jest.spyOn(pg.Client.prototype, 'query');
      const before = await countFailures();
      let published = 0;
      while ((await countFailures()) < before + 3) {
        await publishOther();
        published += 1;
      }
      const reads = queries.mock.calls.flatMap(([query], index) =>
        (query as { name?: string }).name?.startsWith('relay-read-pending')
          ? [queries.mock.results[index]?.value as unknown as Promise<pg.QueryResult>]
          : [],
      );
      const rowsRead = (await Promise.all(reads)).reduce((sum, { rows }) => sum + rows.length, 0);
      queries.mockRestore();
      expect(rowsRead).toBe(published);
    });

    test('accepts no event of a topic that asks for two replicas in sync', async () => {
      const countInSync = async () =>
        (await describePartitions([first.brokers], inSync.topic))[0]?.isr.length;
      await waitFor(async () => (await countInSync()) === 1, { what: 'one replica in sync' });
      // The broker accepts messages that require one acknowledgement, and refuses messages that require all.
      const kafka = new Kafka({ brokers: [first.brokers], logLevel: logLevel.NOTHING });
      const bystander = kafka.producer({ retry: { retries: 0 } });
      await bystander.connect();
      const message = { topic: inSync.topic, messages: [{ value: '{}' }] };
      await bystander.send({ ...message, acks: 1 });
      await expect(bystander.send({ ...message, acks: -1 })).rejects.toThrow();
      await bystander.disconnect();

      inSync.eventId = (await inSync.database?.add('org-1'))?.eventId ?? '';
      inSync.relay = createEventRelay({
        connectionString: inSync.database?.url ?? '',
        kafka: { brokers: [first.brokers] },
        topic: inSync.topic,
        log: inSync.log,
      });
      inSync.relay.start();
      await waitFor(() => inSync.log.lines.some(({ level }) => level === 'warn'), { what: 'a refusal' });
      expect(await inSync.database?.countPending()).toBe(1);
    });

    test('publishes all that waited, in order, once it is back', async () => {
      await second.start();
      await allPublished();
      await expectAllInOrder(topic);
      await waitFor(async () => (await inSync.database?.countPending()) === 0, { what: 'publishing' });
      const reader = await readTopic({ brokers: [first.brokers] }, inSync.topic);
      await waitFor(() => reader.values.length >= 2, { what: 'the event' });
      await reader.stop();
      expect(reader.values).toEqual(['{}', expect.stringContaining(inSync.eventId)]);
    });
  });

  describe('of which one broker is in use', () => {
    beforeEach(open);
    afterEach(async () => {
      second.resume();
      await close();
    });

    test('publishes the events of other brokers while the first of the list hangs, and the rest once it resumes', async () => {
      // A broker that answers nothing is asked for the events of its partitions one after another.
      const topic = await createTopicOn(1, 2, 2, 2, 2, 2);
      start([second, first], { topic });
      await database.addMany(240, 60);
      await allPublished();
      second.pause();
      await database.addMany(240, 60);
      await othersPublished(6);
      await noticed();
      // More than one window.
      await database.addMany(2_400, 60);
      await othersPublished(6);
      second.resume();
      await allPublished();
      await expectAllInOrder(topic);
    });

    test('OPS-9 EVT-38 publishes once Kafka is available, without a warning at the start, and all events in order after an outage, with one warning for each reason', async () => {
      const topic = await createTopicOn(2, 2, 2);
      await second.stop();
      start([second], { topic, startGraceMs: 3_600_000 });
      await database.addMany(200, 10);
      await waitFor(() => relay?.state === 'waiting', { what: 'noticing that Kafka is not there yet' });
      await second.start();
      await allPublished();
      expect(warnings()).toEqual([]);
      await second.kill();
      await database.addMany(200, 10);
      await waitFor(() => relay?.state === 'waiting', { what: 'noticing the outage' });
      await database.addMany(200, 10);
      expect(await database.countPending()).toBe(400);
      await second.start();
      await allPublished();
      await expectAllInOrder(topic);
      const reasons = log.lines
        .filter(({ level, message }) => level === 'warn' && message.startsWith('events wait'))
        .map(({ detail }) => findReason(detail['err']));
      // Each reason once, or twice if the calm between was long enough for the outage to be over.
      expect(reasons.length).toBeGreaterThan(0);
      expect(reasons.length).toBeLessThanOrEqual(2 * new Set(reasons).size);
    });

    test('sends events again that a hanging broker may have written, and keeps first copies in order', async () => {
      const topic = await createTopicOn(2, 2, 2);
      start([second], { topic });
      await database.addMany(200, 10);
      await allPublished();
      second.pause();
      await database.addMany(400, 10);
      await noticed();
      second.resume();
      await allPublished();
      await expectAllInOrder(topic);
    });
  });
});
