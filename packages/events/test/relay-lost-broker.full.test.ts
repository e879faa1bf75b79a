import { describeWith, type OwnKafka, startOwnKafka, waitFor } from '@platform/testing';
import { createEventRelay, type EventRelay } from '../src/index.js';
import { createOutboxDatabase, type OutboxDatabase } from './support/outbox-database.js';
import { createRecordingLog, type RecordingLog } from './support/recording-log.js';
import { createTopic, newTopic } from './support/topic.js';

describeWith('own-kafka', 'relay and brokers that do not answer', () => {
  let first: OwnKafka;
  let second: OwnKafka;
  let database: OutboxDatabase;
  let relay: EventRelay | undefined;
  let log: RecordingLog;

  beforeAll(async () => {
    // The cluster does not remove a broker by itself.
    first = await startOwnKafka({ settings: { 'broker.session.timeout.ms': '600000' } });
    second = await startOwnKafka({ join: first });
  });
  afterAll(async () => {
    await second?.close();
    await first?.close();
  });
  beforeEach(async () => {
    database = await createOutboxDatabase();
    log = createRecordingLog();
  });
  afterEach(async () => {
    second.resume();
    await relay?.stop();
    await database.drop();
  });

  function start(brokers: string[], topic: string): void {
    relay = createEventRelay({ connectionString: database.url, kafka: { brokers }, topic, log });
    relay.start();
  }
  /** Creates a topic with one replica per partition: partition 0 on the first broker, the others on the second. */
  async function createSplitTopic(): Promise<string> {
    const topic = newTopic();
    const replicas = [1, 2, 2, 2, 2, 2].map((broker, partition) => ({ partition, replicas: [broker] }));
    await createTopic([first.brokers], { topic, replicaAssignment: replicas });
    return topic;
  }
  const expectPending = (isRight: (count: number) => boolean, what: string) =>
    waitFor(async () => isRight(await database.countPending()), { what });
  const noticed = () => waitFor(() => log.lines.some(({ level }) => level === 'warn'), { what: 'noticing' });
  async function expectOthersFlow(): Promise<void> {
    await database.addMany(240, 60);
    const before = await database.countPending();
    await expectPending((count) => count < before, 'an event of the others');
  }

  test('publishes through any remaining broker', async () => {
    // Nothing listens on the first three.
    start(['127.0.0.1:1', '127.0.0.1:2', '127.0.0.1:3', first.brokers], newTopic());
    await database.addMany(10, 5);
    await expectPending((count) => count === 0, 'publishing');
  });

  test.each(['last', 'first'])(
    'publishes the events of other brokers while the %s of the list hangs, and the rest once it resumes',
    async (place) => {
      const [brokers, topic] = [[first.brokers, second.brokers], await createSplitTopic()];
      start(place === 'last' ? brokers : brokers.toReversed(), topic);
      await database.addMany(240, 60);
      await expectPending((count) => count === 0, 'publishing');
      second.pause();
      await expectOthersFlow();
      await noticed();
      await expectOthersFlow();
      second.resume();
      await expectPending((count) => count === 0, 'all');
    },
  );

  test('publishes the events of other brokers while the cluster still counts on a lost one', async () => {
    start([first.brokers, second.brokers], await createSplitTopic());
    await database.addMany(240, 60);
    await expectPending((count) => count === 0, 'publishing');
    await second.kill();
    await expectOthersFlow();
    await noticed();
    for (let round = 0; round < 5; round += 1) await expectOthersFlow();
    const told = log.lines.filter(({ level }) => level === 'warn').map(({ message }) => message);
    expect(new Set(told)).toEqual(
      new Set(['Kafka does not accept the next event of a partition; its events wait']),
    );
  });
});
