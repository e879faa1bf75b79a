import { randomUUID } from 'node:crypto';
import { describeWith, readTopic, testKafka, waitFor } from '@platform/testing';
import { createCrawls } from '../support/crawls.js';
import { type Platform, startPlatform } from '../support/platform.js';

const RUNS = 3;

describeWith('kafka', 'the events of runs', () => {
  const topic = `sync-events-${randomUUID()}`;
  let brokers: string[];
  let platform: Platform;
  const crawls = createCrawls(() => platform);
  beforeAll(async () => {
    ({ brokers } = await testKafka());
    platform = await startPlatform({
      backend: 'postgres',
      env: { ROLE: 'api', KAFKA_TOPIC: topic, KAFKA_PARTITIONS: '3' },
    });
  });
  afterAll(() => platform.close());

  it('wait while Kafka is unavailable, outlive the service, and arrive once and in order', async () => {
    // Nothing listens there: runs complete, and the API responds.
    const victim = await platform.addProcess(
      { ROLE: 'all', KAFKA_BROKERS: '127.0.0.1:1' },
      { isFirst: true },
    );
    await crawls.schedule('wiki_1');
    for (let count = 0; count < RUNS; count += 1) {
      await crawls.run('wiki_1');
      await crawls.outcome('wiki_1', 'completed');
    }
    expect((await platform.call('GET', '/stats')).status).toBe(200);
    expect((await fetch(`${victim.url}/health/ready`)).status).toBe(200);
    const waiting = await platform.db.query('select from outbox.events where published_at is null');
    expect(waiting.rowCount).toBe(RUNS);
    await victim.kill();

    await platform.addCrawl({ ROLE: 'all', KAFKA_BROKERS: brokers.join(',') }, { isFirst: true });
    await waitFor(() => platform.crawl.logged().includes('publishing events'), { what: 'the relay' });
    const { messages, stop } = await readTopic({ brokers }, topic);
    await crawls.run('wiki_1');
    await waitFor(() => messages.length > RUNS, { what: 'all events' });
    await stop();
    const ids = (await crawls.runs('wiki_1')).map(({ eventId }) => eventId as string).toReversed();
    const received = messages.map(({ event }) => event);
    expect(received.map(({ eventId }) => eventId)).toEqual(ids);
    expect(received[0]).toMatchObject({
      eventType: 'ReindexAllRecordEvent',
      payload: { orgId: platform.admin.orgId, connector: 'wiki_1', origin: 'CONNECTOR' },
    });
    expect((await platform.call('GET', '/events')).body.data).toEqual(received);
  });
});
