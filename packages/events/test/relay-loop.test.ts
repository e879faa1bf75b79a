import pg from 'pg';
import { waitFor } from '@platform/testing';
import { relayUntilStopped } from '../src/relay/loop.js';
import type { Publisher } from '../src/relay/publisher.js';
import type { PendingEvent } from '../src/relay/queries.js';
import { createOutageLog } from '../src/relay/outage-log.js';
import { createOutboxDatabase, type OutboxDatabase } from './support/outbox-database.js';
import { createRecordingLog } from './support/recording-log.js';

/*
 * The order of events when faults follow one another in a way that no real broker can be made to show: the outbox is real,
 * and the publisher accepts what the test lets it. relay-outages.full.test.ts has real brokers.
 */

/** The number of an organisation is its partition. */
const toPartition = ({ event_key: key }: Pick<PendingEvent, 'event_key'>) => Number(/\d+/.exec(key)?.[0]);
const FAULT = new Error('not accepted');

let database: OutboxDatabase;
let client: pg.Client;
let accepted: PendingEvent[];
/** Returns how many events of a batch are accepted. */
let accept: (partition: number, events: readonly PendingEvent[]) => number;
/** How long a batch of several events takes that is not accepted. */
let failureMs: number;
let publishes: number;
let ending: AbortController;
let running: Promise<void>;

const publisher: Publisher = {
  partitionCount: 1,
  isTopicChanged: () => Promise.resolve(false),
  toPartition,
  async publish(batches) {
    publishes += 1;
    const results = [...batches].map(([partition, events]) => {
      const published = events.slice(0, accept(partition, events));
      accepted.push(...published);
      return { partition, published, fault: published.length < events.length ? FAULT : undefined };
    });
    const hasFailed = results.some(
      ({ partition, fault }) => fault && (batches.get(partition)?.length ?? 0) > 1,
    );
    if (hasFailed) await new Promise((done) => setTimeout(done, failureMs));
    return { results, reconnectFault: undefined };
  },
  close: async () => undefined,
};

beforeEach(async () => {
  database = await createOutboxDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  accepted = [];
  failureMs = 0;
  publishes = 0;
  accept = (_partition, events) => events.length;
});
afterEach(async () => {
  ending.abort();
  await running;
  await client.end();
  await database.drop();
});

const held = new Map<number, PendingEvent>();
function start(): void {
  held.clear();
  ending = new AbortController();
  running = relayUntilStopped({
    client,
    failed: () => undefined,
    publisher,
    held,
    outages: createOutageLog(),
    topicCheckMs: undefined,
    wakeSignal: {
      wake: () => undefined,
      sleep: (ms) => new Promise((done) => setTimeout(done, Math.min(ms, 50))),
    },
    metrics: undefined,
    log: createRecordingLog(),
    signal: ending.signal,
  });
}
const isAccepted = (key: string) => accepted.some((event) => event.event_key === key);
const allPublished = () => waitFor(async () => (await database.countPending()) === 0, { what: 'publishing' });

async function expectOnceAndInOrder(): Promise<void> {
  const idsByKey = new Map<string, string[]>();
  for (const { event_key: key, event_id: id } of accepted)
    idsByKey.set(key, [...(idsByKey.get(key) ?? []), id]);
  expect(idsByKey).toEqual(await database.idsByKey());
}

test('a partition that fails again and again while its backlog is sent is sent in order, and the others do not wait for it', async () => {
  // Single events are accepted, the batches behind them are not, and that takes longer than the pause before a retry.
  accept = (partition, events) =>
    partition === 2 || (partition === 1 && events.length > 1) ? 0 : events.length;
  failureMs = 300;
  await database.addPlaced(1, ['org-2']);
  await database.addPlaced(1_200, ['org-1']);
  start();
  await waitFor(() => isAccepted('org-1:files_1'), { what: 'the first event of the backlog' });
  await database.addPlaced(1, ['org-0']);
  await waitFor(() => isAccepted('org-0:files_1'), { what: 'the event behind the backlog' });
  accept = (_partition, events) => events.length;
  await allPublished();
  await expectOnceAndInOrder();
});

test('a long backlog is passed over by its keys', async () => {
  accept = (partition, events) => (partition === 1 ? 0 : events.length);
  const queries = jest.spyOn(client, 'query');
  await database.addPlaced(2_000, ['org-1']);
  await database.addPlaced(1, ['org-0']);
  start();
  await waitFor(() => isAccepted('org-0:files_1'), { what: 'the event behind the backlog' });
  const windows = queries.mock.calls.flatMap(([query], index) =>
    (query as { name?: string }).name === 'relay-read-pending'
      ? [queries.mock.results[index]?.value as unknown as Promise<pg.QueryResult>]
      : [],
  );
  const sizes = (await Promise.all(windows)).map(({ rows }) => rows.length).filter((size) => size > 0);
  // The first is not accepted, the second has nothing else, and what it continues in is not read.
  expect(sizes).toEqual([500, 500, 1]);
});

test('a partition that is accepted again is sent in order while another one, whose events are between, stays held', async () => {
  const closed = new Set([1, 2]);
  accept = (partition, events) => (closed.has(partition) ? 0 : events.length);
  await database.addPlaced(3_000, ['org-0', 'org-1', 'org-2']);
  start();
  await waitFor(() => accepted.length === 1_000, { what: 'the events of the others' });
  expect(new Set(held.keys())).toEqual(new Set([1, 2]));
  closed.delete(2);
  await waitFor(() => accepted.length === 2_000, { what: 'the events of the one' });
  expect([...held.keys()]).toEqual([1]);
  closed.delete(1);
  await allPublished();
  await expectOnceAndInOrder();
});

test('an event that is refused in the middle of a batch is sent by itself until it is accepted, and what follows waits', async () => {
  await database.addPlaced(700, ['org-1']);
  const refused = (await database.idsByKey()).get('org-1:files_1')?.[350];
  const offers: number[] = [];
  let isRefusing = true;
  accept = (_partition, events) => {
    offers.push(events.length);
    const index = events.findIndex(({ event_id: id }) => isRefusing && id === refused);
    return index === -1 ? events.length : index;
  };
  start();
  await waitFor(() => publishes >= 4, { what: 'retries' });
  expect([accepted.length, new Set(offers.slice(1))]).toEqual([350, new Set([1])]);
  isRefusing = false;
  await allPublished();
  await expectOnceAndInOrder();
});

test('a stop during a retry publishes nothing after it', async () => {
  accept = (_partition, events) => {
    if (publishes === 1) return 0;
    ending.abort();
    return events.length;
  };
  await database.addPlaced(2, ['org-1']);
  start();
  await running;
  expect([accepted.length, publishes, await database.countPending()]).toEqual([1, 2, 1]);
});
