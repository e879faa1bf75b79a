import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  describeWith,
  firstCopiesByKey,
  readTopic,
  startOwnPostgres,
  testKafka,
  waitFor,
} from '@platform/testing';
import { createEventRelay, type EventRelay } from '../src/index.js';
import { interceptMarks } from './support/mark-interceptor.js';
import { createOutboxDatabase, type OutboxDatabase } from './support/outbox-database.js';
import { createRecordingLog, type RecordingLog } from './support/recording-log.js';
import { newTopic } from './support/topic.js';

// Waits are for events, not for a fast machine: a run beside others must pass too.
// Runs the built package, because a separate process cannot use Jest's transform.
const FIXTURE = join(import.meta.dirname, 'fixtures', 'run-relay.mjs');

describeWith('kafka', 'relay and crashes', () => {
  let brokers: string[];
  let topic: string;
  let log: RecordingLog;
  /** Run after each test in reverse order, even when the test failed. */
  const cleanUps: (() => unknown)[] = [];

  beforeAll(async () => {
    ({ brokers } = await testKafka());
  });
  beforeEach(() => {
    topic = newTopic();
    log = createRecordingLog();
  });
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
  });

  async function openDatabase(adminUrl?: string): Promise<OutboxDatabase> {
    const database = await createOutboxDatabase(adminUrl);
    cleanUps.push(() => database.drop());
    return database;
  }
  async function startElsewhere(databaseUrl: string): Promise<ChildProcess> {
    const args = [FIXTURE, databaseUrl, brokers.join(','), topic];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    cleanUps.push(() => child.kill('SIGKILL'));
    const lines = createInterface({ input: child.stdout });
    for await (const line of lines) if (line === 'publishing events') break;
    return child;
  }
  function startHere({ url }: OutboxDatabase): EventRelay {
    const options = { connectionString: url, kafka: { brokers }, topic, partitions: 3, log };
    const relay = createEventRelay(options);
    cleanUps.push(() => relay.stop());
    relay.start();
    return relay;
  }
  const allPublished = (database: OutboxDatabase) =>
    waitFor(async () => (await database.countPending()) === 0, { what: 'publishing' });

  /** Expects the topic to have all events, and of each key the first copies in order. @returns how many messages there are. */
  async function expectAllInOrder(database: OutboxDatabase): Promise<number> {
    const reader = await readTopic({ brokers }, topic);
    cleanUps.push(() => reader.stop());
    const expected = await database.idsByKey();
    const total = [...expected.values()].flat().length;
    // A crash causes duplicates, so the ids show when all events have arrived.
    const ids = () => new Set(reader.messages.map(({ event }) => event.eventId));
    await waitFor(() => ids().size === total, { what: 'all events' });
    expect(firstCopiesByKey(reader.messages)).toEqual(expected);
    return reader.messages.length;
  }

  test('loses nothing and keeps first copies in order when a leader is killed between acknowledgement and mark', async () => {
    const database = await openDatabase();
    const interceptor = await interceptMarks(database.url);
    cleanUps.push(() => interceptor.close());
    const leader = await startElsewhere(interceptor.url);
    const standby = startHere(database);
    await database.addMany(300, 10);
    await allPublished(database);
    interceptor.swallowMarks();
    await database.addMany(300, 10);
    await waitFor(() => interceptor.hasSwallowed, { what: 'an acknowledgement without a mark' });
    await database.addMany(300, 10);

    leader.kill('SIGKILL');
    await once(leader, 'exit');
    await waitFor(() => standby.state === 'relaying', { what: 'the take-over' });
    await allPublished(database);
    expect(await expectAllInOrder(database)).toBeGreaterThan(900);
  });

  test("loses nothing and keeps first copies in order when a leader's database connection is cut", async () => {
    const database = await openDatabase();
    const group = [startHere(database), startHere(database)];
    const leads = () => group.some(({ state }) => state === 'relaying');
    await waitFor(leads, { what: 'a leader' });
    for (let round = 0; round < 3; round += 1) {
      await database.addMany(200, 10);
      await database.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'event-relay' and datname = current_database()`,
      );
      await database.addMany(200, 10);
    }
    await allPublished(database);
    await expectAllInOrder(database);
  });

  test('publishes all committed events in order when the database is killed, restarts or hangs', async () => {
    const postgres = await startOwnPostgres();
    cleanUps.push(() => postgres.close());
    const database = await openDatabase(postgres.url());
    const relay = startHere(database);
    await database.addMany(200, 10);
    for (const end of ['kill', 'stop'] as const) {
      await database.addMany(200, 10);
      await postgres[end]();
      await waitFor(() => relay.state === 'waiting', { what: 'noticing' });
      await postgres.start();
      await allPublished(database);
    }
    expect(log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
    await database.addMany(200, 10);
    await postgres.pause();
    await waitFor(() => relay.state === 'waiting', { what: 'noticing that nothing answers' });
    await postgres.resume();
    await allPublished(database);
    await expectAllInOrder(database);
  });
});
