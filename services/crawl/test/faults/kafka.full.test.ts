import { randomUUID } from 'node:crypto';
import { connectors } from '@platform/events';
import { describeWith, type OwnKafka, startOwnKafka, waitFor } from '@platform/testing';
import { countEvents, expectEventsArrived } from '../support/arrivals.js';
import { createCrawls } from '../support/crawls.js';
import { type Platform, startPlatform } from '../support/platform.js';

const regular = ['wiki_1', 'db_1', 'chat_1'] as const;

describeWith('own-kafka', 'a Kafka of two brokers', () => {
  const topic = `sync-events-${randomUUID()}`;
  let first: OwnKafka;
  let second: OwnKafka;
  let platform: Platform;
  const crawls = createCrawls(() => platform);
  beforeAll(async () => {
    first = await startOwnKafka();
    second = await startOwnKafka({ join: first });
    // Partitions have one replica, so half of them exist on the second broker only.
    const env = {
      KAFKA_BROKERS: `${first.brokers},${second.brokers}`,
      KAFKA_TOPIC: topic,
      KAFKA_PARTITIONS: '6',
    };
    platform = await startPlatform({ backend: 'postgres', env });
    await Promise.all(connectors.map((connector) => crawls.schedule(connector)));
  });
  afterAll(async () => {
    await platform.close();
    await second.close();
    await first.close();
  });

  async function runEach(some: readonly (typeof connectors)[number][]): Promise<void> {
    await Promise.all(some.map((connector) => crawls.run(connector)));
    await Promise.all(some.map((connector) => crawls.outcome(connector, 'completed')));
  }
  const count = (state: 'waiting' | 'published') => countEvents(platform, state);
  /** Returns the last log lines about events and Kafka. */
  const relayLog = () =>
    platform.crawl
      .logged()
      .split('\n')
      .filter((line) => /kafkajs|sync event/i.test(line))
      .slice(-20)
      .join('\n');
  const expectArrived = () =>
    expectEventsArrived({ platform, brokers: [first.brokers, second.brokers], topic });

  it('a service killed between completion and publishing publishes each event once after its restart', async () => {
    await waitFor(() => platform.crawl.logged().includes('publishing events'), {
      what: 'the relay',
    });
    const client = await platform.db.connect();
    // No event gets its position, so none is published.
    await client.query('begin; select from outbox.head for update');
    for (let round = 0; round < 3; round += 1) await runEach(regular);
    await platform.crawl.kill();
    expect([await count('waiting'), await count('published')]).toEqual([9, 0]);
    await client.query('rollback');
    client.release();
    await platform.addCrawl({}, true);
    expect(await expectArrived()).toHaveLength(9);
  });

  it('while Kafka is down runs complete and the API responds; the events arrive when it is back', async () => {
    const published = await count('published');
    await second.kill();
    await first.stop();
    for (let round = 0; round < 3; round += 1) await runEach(regular);
    expect((await platform.call('GET', '/stats')).status).toBe(200);
    expect((await fetch(`${platform.crawl.url}/health/ready`)).status).toBe(200);
    expect([await count('waiting'), await count('published')]).toEqual([9, published]);
    await first.start();
    await second.start();
    await expectArrived();
  });

  it('while one broker is down the events of its partitions wait, and the others are published', async () => {
    const published = await count('published');
    await second.kill();
    await runEach(connectors);
    await runEach(connectors);
    await waitFor(
      async () => {
        if ((await count('published')) > published) return true;
        throw new Error(relayLog());
      },
      { what: 'the others' },
    );
    expect(await count('waiting')).toBeGreaterThan(0);
    await second.start();
    await expectArrived();
  });
});
