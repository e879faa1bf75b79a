import {
  describeWith,
  firstCopiesByKey,
  readTopic,
  startStopwatch,
  testKafka,
  type TopicReader,
  waitFor,
} from '@platform/testing';
import { Registry } from 'prom-client';
import { createEventRelay, type EventRelay } from '../src/index.js';
import { createOutboxDatabase, type OutboxDatabase } from './support/outbox-database.js';
import { createRecordingLog } from './support/recording-log.js';
import { newTopic } from './support/topic.js';

// Waits are for events, not for a fast machine: a run beside others must pass too.
describeWith('kafka', 'relay', () => {
  let database: OutboxDatabase;
  let brokers: string[];
  let topic: string;
  const relays: EventRelay[] = [];
  const readers: TopicReader[] = [];

  beforeAll(async () => {
    ({ brokers } = await testKafka());
  });
  beforeEach(async () => {
    topic = newTopic();
    database = await createOutboxDatabase();
  });
  afterEach(async () => {
    await Promise.all([...relays.splice(0), ...readers.splice(0)].map((each) => each.stop()));
    await database.drop();
  });

  function start(registry?: Registry): EventRelay {
    const relay = createEventRelay({
      connectionString: database.url,
      kafka: { brokers },
      topic,
      partitions: 3,
      log: createRecordingLog(),
      ...(registry && { registry }),
    });
    relays.push(relay);
    relay.start();
    return relay;
  }
  const allPublished = () =>
    waitFor(async () => (await database.countPending()) === 0, { what: 'publishing' });
  async function read(): Promise<TopicReader> {
    const reader = await readTopic({ brokers }, topic);
    readers.push(reader);
    return reader;
  }
  test('another consumer reads key, value and headers of an event as documented', async () => {
    start();
    const event = await database.add('org-1', 'chat_1');
    await allPublished();
    const { messages } = await read();
    await waitFor(() => messages.length === 1, { what: 'the message' });
    expect(messages[0]).toEqual({
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
  });

  test('publishes events byte for byte as stored', async () => {
    start();
    await database.addMany(1, 1);
    await allPublished();
    const reader = await read();
    await waitFor(() => reader.messages.length === 1, { what: 'the message' });
    const { rows } = await database.pool.query<{ text: string }>(
      'select event::text as text from outbox.events',
    );
    expect(reader.values).toEqual(rows.map(({ text }) => text));
  });

  test('several relays publish each event once and in order per key, at 1,000 a second or more', async () => {
    const before = performance.now();
    const total = 10_000;
    const group = [start(), start(), start()];
    await waitFor(() => group.some(({ state }) => state === 'relaying'), {
      what: 'a leader',
    });
    const upMs = performance.now() - before;
    const stopwatch = startStopwatch();
    for (let batch = 0; batch < 10; batch++) {
      await database.addMany(total / 10, 40);
      group[batch % 3]?.wake();
    }
    await allPublished();
    const perSecond = total / (stopwatch.stop() / 1_000);
    process.stderr.write(`relay: ${Math.round(perSecond)} events/s (up after ${Math.round(upMs)} ms)\n`);
    expect(group.filter(({ state }) => state === 'relaying')).toHaveLength(1);
    const { messages } = await read();
    await waitFor(() => messages.length >= total, { what: 'all messages' });
    expect(new Set(messages.map(({ event }) => event.eventId)).size).toBe(total);
    expect(messages).toHaveLength(total);
    expect(firstCopiesByKey(messages)).toEqual(await database.idsByKey());
    expect(perSecond).toBeGreaterThan(1_000);
  });

  test('publishes an event whichever replica commits it, and counts it in the metrics', async () => {
    const registry = new Registry();
    const leader = start(registry);
    await waitFor(() => leader.state === 'relaying', { what: 'leadership' });
    const follower = start();
    for (let round = 0; round <= 100; round++) {
      await database.add(`org-${round}`);
      (round % 2 ? leader : follower).wake();
    }
    await allPublished();
    // The counter is increased right after the rows were marked.
    const metrics = await waitFor(
      async () => {
        const text = await registry.metrics();
        return text.includes('sync_event_published_total 101') && text;
      },
      { what: 'the count of the published' },
    );
    expect(metrics).toContain('sync_event_outbox_pending 0');
    expect(metrics).toContain('sync_event_relay_leading 1');
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
});
