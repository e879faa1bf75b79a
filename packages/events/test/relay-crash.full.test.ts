import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  describeWith,
  firstCopiesByKey,
  readTopic,
  testKafka,
  type TopicReader,
  waitFor,
} from '@platform/testing';
import { createEventRelay, type EventRelay } from '../src/index.js';
import { interceptMarks, type MarkInterceptor } from './support/mark-interceptor.js';
import { createOutboxDatabase, type OutboxDatabase } from './support/outbox-database.js';
import { createRecordingLog } from './support/recording-log.js';
import { newTopic } from './support/topic.js';

// Waits are for events, not for a fast machine: a run beside others must pass too.
// Runs the built package, because a separate process cannot use Jest's transform.
const FIXTURE = join(import.meta.dirname, 'fixtures', 'run-relay.mjs');

describeWith('kafka', 'relay crash', () => {
  let database: OutboxDatabase;
  let brokers: string[];
  let topic: string;
  let reader: TopicReader | undefined;
  let child: ChildProcess | undefined;
  let interceptor: MarkInterceptor;
  const relays: EventRelay[] = [];

  beforeAll(async () => {
    ({ brokers } = await testKafka());
  });
  beforeEach(async () => {
    topic = newTopic();
    database = await createOutboxDatabase();
    interceptor = await interceptMarks(database.url);
  });
  afterEach(async () => {
    child?.kill('SIGKILL');
    await Promise.all(relays.splice(0).map((relay) => relay.stop()));
    await reader?.stop();
    interceptor.close();
    await database.drop();
  });

  async function startElsewhere(): Promise<ChildProcess> {
    const args = [FIXTURE, interceptor.url, brokers.join(','), topic];
    child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    for await (const line of lines) if (line === 'publishing events') break;
    return child;
  }
  function startHere(): EventRelay {
    const options = { connectionString: database.url, kafka: { brokers }, topic, partitions: 3 };
    const relay = createEventRelay({ ...options, log: createRecordingLog() });
    relays.push(relay);
    relay.start();
    return relay;
  }
  const allPublished = () =>
    waitFor(async () => (await database.countPending()) === 0, { what: 'publishing' });

  test('loses nothing and keeps first copies in order when a leader is killed between acknowledgement and mark', async () => {
    const leader = await startElsewhere();
    const standby = startHere();
    await database.addMany(300, 10);
    await allPublished();
    interceptor.swallowMarks();
    await database.addMany(300, 10);
    await waitFor(() => interceptor.hasSwallowed, { what: 'an acknowledgement without a mark' });
    await database.addMany(300, 10);

    const killed = performance.now();
    leader.kill('SIGKILL');
    await once(leader, 'exit');
    await waitFor(() => standby.state === 'relaying', { what: 'the take-over' });
    process.stderr.write(`relay: took over ${Math.round(performance.now() - killed)} ms after kill -9\n`);
    await allPublished();
    reader = await readTopic({ brokers }, topic);
    const { messages } = reader;
    // The swallowed mark causes duplicates, so the ids show when all events have arrived.
    const ids = () => new Set(messages.map(({ event }) => event.eventId));
    await waitFor(() => ids().size === 900, { what: 'all events' });
    expect(messages.length).toBeGreaterThan(900);
    expect(firstCopiesByKey(messages)).toEqual(await database.idsByKey());
  });

  test("loses nothing and keeps first copies in order when a leader's database connection is cut", async () => {
    const group = [startHere(), startHere()];
    const leads = () => group.some(({ state }) => state === 'relaying');
    await waitFor(leads, { what: 'a leader' });
    for (let round = 0; round < 3; round++) {
      await database.addMany(500, 10);
      await database.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'event-relay' and datname = current_database()`,
      );
      await database.addMany(500, 10);
    }
    await allPublished();
    reader = await readTopic({ brokers }, topic);
    const { messages } = reader;
    await waitFor(() => new Set(messages.map(({ event }) => event.eventId)).size === 3_000, {
      what: 'all events',
    });
    expect(firstCopiesByKey(messages)).toEqual(await database.idsByKey());
  });
});
