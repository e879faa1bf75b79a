import { describeWith, type OwnKafka, startOwnKafka, waitFor } from '@platform/testing';
import { createEventRelay, type EventRelay } from '../src/index.js';
import { createOutboxDatabase, type OutboxDatabase } from './support/outbox-database.js';
import { createRecordingLog } from './support/recording-log.js';
import {
  countLeaderless,
  createTopic,
  firstCopiesByKey,
  newTopic,
  readTopic,
  type TopicReader,
} from './support/topic.js';

// Waits are for events, not for a fast machine: a run beside others must pass too.
describeWith('own-kafka', 'relay and a cluster that loses a broker', () => {
  let first: OwnKafka;
  let second: OwnKafka | undefined;
  let database: OutboxDatabase;
  let relay: EventRelay | undefined;
  let reader: TopicReader | undefined;

  beforeAll(async () => {
    first = await startOwnKafka();
    second = await startOwnKafka({ join: first });
    database = await createOutboxDatabase();
  });
  afterAll(async () => {
    await relay?.stop();
    await reader?.stop();
    await database.drop();
    await second?.close();
    await first.close();
  });

  test('publishes to the remaining partitions, holds the events of the lost one, and loses nothing', async () => {
    const topic = newTopic();
    const brokers = [first.brokers];
    // Each partition has one replica: partition 0 on the first broker, partition 1 on the second.
    const replicaAssignment = [
      { partition: 0, replicas: [1] },
      { partition: 1, replicas: [2] },
    ];
    await createTopic(brokers, { topic, replicaAssignment });
    const log = createRecordingLog();
    relay = createEventRelay({ connectionString: database.url, kafka: { brokers }, topic, log });
    relay.start();
    const pending = (count: number) =>
      waitFor(async () => (await database.countPending()) === count, {
        what: `${count} pending`,
      });
    await database.addMany(100, 10);
    await pending(0);

    await second?.kill();
    await database.addMany(100, 10);
    await waitFor(() => log.lines.some(({ level }) => level === 'warn'), {
      what: 'noticing',
    });
    const left = await waitFor(
      async () => {
        const count = await database.countPending();
        return count < 100 && count;
      },
      { what: 'the first partition' },
    );
    await database.addMany(100, 10);
    await pending(left * 2);
    // The cluster has given the broker up: what it tells now is a topic with a partition that has no leader.
    await waitFor(async () => (await countLeaderless(brokers, topic)) === 1, {
      what: 'giving the broker up',
    });
    await database.addMany(100, 10);
    await pending(left * 3);

    await second?.start();
    await pending(0);
    reader = await readTopic(brokers, topic);
    const { messages } = reader;
    await waitFor(() => new Set(messages.map(({ event }) => event.eventId)).size === 400, {
      what: 'all events',
    });
    expect(firstCopiesByKey(messages)).toEqual(await database.idsByKey());
    const warnings = log.lines.filter(({ level }) => level === 'warn' || level === 'error');
    expect(warnings.length).toBeLessThanOrEqual(4);
  });
});
