import { randomUUID } from 'node:crypto';
import { connectors, createSyncEventConsumer, keyOf, type SyncEvent } from '@platform/events';
import { describeWith, type OwnKafka, startOwnKafka, waitFor } from '@platform/testing';
import { crawlsOf, SLOW } from '../support/crawls.js';
import { type Platform, startPlatform } from '../support/platform.js';

jest.setTimeout(180_000);

const regular = ['wiki_1', 'db_1', 'chat_1'] as const;

describeWith('own-kafka', 'a Kafka of two brokers', () => {
  const topic = `sync-events-${randomUUID()}`;
  let first: OwnKafka;
  let second: OwnKafka;
  let platform: Platform;
  const crawls = crawlsOf(() => platform);
  beforeAll(async () => {
    first = await startOwnKafka();
    second = await startOwnKafka({ join: first });
    // One copy of each partition: half of them live on the second broker alone.
    const env = {
      KAFKA_BROKERS: `${first.brokers},${second.brokers}`,
      KAFKA_TOPIC: topic,
      KAFKA_PARTITIONS: '6',
    };
    platform = await startPlatform({ backend: 'postgres', env });
    await Promise.all(connectors.map((connector) => crawls.schedule(connector)));
  }, 180_000);
  afterAll(async () => {
    await platform.close();
    await second.close();
    await first.close();
  }, 60_000);

  async function runEach(some: readonly (typeof connectors)[number][]): Promise<void> {
    await Promise.all(some.map((connector) => crawls.run(connector)));
    await Promise.all(some.map((connector) => crawls.outcome(connector, 'completed')));
  }
  const count = async (state: 'is null' | 'is not null') =>
    (await platform.db.query(`select from sync_events.outbox where published_at ${state}`)).rowCount ?? 0;

  /** Every event has arrived, in the order of its key. @returns all copies that did. */
  async function expectArrived(): Promise<SyncEvent[]> {
    await crawls.expectWhole();
    await waitFor(async () => (await count('is null')) === 0, { what: 'publishing', ...SLOW });
    const arrived: SyncEvent[] = [];
    const consumer = createSyncEventConsumer({
      kafka: { brokers: [first.brokers, second.brokers] },
      groupId: randomUUID(),
      topic,
      handle: (event) => void arrived.push(event),
      onInvalid: ({ reason }) => {
        throw new Error(reason);
      },
      // Every copy, to see how many there are.
      dedupe: { has: () => false, add: () => undefined, size: 0 },
    });
    await consumer.start();
    const total = await count('is not null');
    const ids = () => new Set(arrived.map(({ eventId }) => eventId));
    await waitFor(() => ids().size === total, { what: `${total} events`, ...SLOW });
    await consumer.stop();
    const byKey = new Map<string, Set<string>>();
    for (const event of arrived)
      byKey.set(keyOf(event), (byKey.get(keyOf(event)) ?? new Set()).add(event.eventId));
    const firstCopies = new Map([...byKey].map(([key, eventIds]) => [key, [...eventIds]]));
    expect(firstCopies).toEqual(await crawls.eventsByKey());
    return arrived;
  }

  it('killed between completion and publishing, the next start publishes each event once', async () => {
    await waitFor(() => platform.crawl.logged().includes('publishing sync events'), {
      what: 'the relay',
      ...SLOW,
    });
    const client = await platform.db.connect();
    // No event gets its place, so none is published.
    await client.query('begin; select from sync_events.head for update');
    for (let round = 0; round < 3; round += 1) await runEach(regular);
    await platform.crawl.kill();
    expect([await count('is null'), await count('is not null')]).toEqual([9, 0]);
    await client.query('rollback');
    client.release();
    await platform.addCrawl({}, true);
    expect(await expectArrived()).toHaveLength(9);
  });

  it('while Kafka is away runs complete and the API serves; the events arrive when it is back', async () => {
    const published = await count('is not null');
    await second.kill();
    await first.stop();
    for (let round = 0; round < 3; round += 1) await runEach(regular);
    expect((await platform.call('GET', '/stats')).status).toBe(200);
    expect((await fetch(`${platform.crawl.url}/health/ready`)).status).toBe(200);
    expect([await count('is null'), await count('is not null')]).toEqual([9, published]);
    await first.start();
    await second.start();
    await expectArrived();
  });

  it('while one broker is away the events of its partitions wait, and the others flow', async () => {
    const published = await count('is not null');
    await second.kill();
    await runEach(connectors);
    await runEach(connectors);
    await waitFor(async () => (await count('is not null')) > published, { what: 'the others', ...SLOW });
    expect(await count('is null')).toBeGreaterThan(0);
    await second.start();
    await expectArrived();
  });
});
