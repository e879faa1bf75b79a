import {
  describeWith,
  firstCopiesByKey,
  type OwnPostgres,
  readTopic,
  startOwnPostgres,
  testKafka,
  waitFor,
} from '@platform/testing';
import { createEventRelay } from '../src/index.js';
import { createOutboxDatabase } from './support/outbox-database.js';
import { createRecordingLog } from './support/recording-log.js';
import { newTopic } from './support/topic.js';

// Waits are for events, not for a fast machine: a run beside others must pass too.
describeWith('kafka', 'relay and a database that fails', () => {
  let postgres: OwnPostgres;
  let brokers: string[];

  beforeAll(async () => {
    ({ brokers } = await testKafka());
    postgres = await startOwnPostgres();
  });
  afterAll(() => postgres?.close());

  test('publishes all committed events in order when the database is killed, hangs or restarts', async () => {
    const database = await createOutboxDatabase(postgres.url());
    const topic = newTopic();
    const log = createRecordingLog();
    const connection = { connectionString: database.url, kafka: { brokers } };
    const relay = createEventRelay({ ...connection, topic, partitions: 3, log });
    relay.start();
    const allPublished = () =>
      waitFor(async () => (await database.countPending()) === 0, { what: 'publishing' });
    await database.addMany(200, 10);
    for (const end of ['kill', 'stop'] as const) {
      await database.addMany(200, 10);
      await postgres[end]();
      await waitFor(() => relay.state === 'waiting', { what: 'noticing' });
      await postgres.start();
      await allPublished();
    }
    await postgres.pause();
    await postgres.resume();
    await database.addMany(200, 10);
    await allPublished();
    const reader = await readTopic({ brokers }, topic);
    const ids = () => new Set(reader.messages.map(({ event }) => event.eventId));
    await waitFor(() => ids().size === 800, { what: 'all events' });
    expect(firstCopiesByKey(reader.messages)).toEqual(await database.idsByKey());
    expect(log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
    await Promise.all([reader.stop(), relay.stop()]);
    await database.drop();
  });
});
