import { randomUUID } from 'node:crypto';
import { describeWith, readTopic, testKafka, waitFor } from '@platform/testing';
import { type Platform, startPlatform } from '../support/platform.js';

describeWith('kafka', 'from the schedule to a consumer', () => {
  const topic = `sync-events-${randomUUID()}`;
  let brokers: string[];
  let platform: Platform;
  beforeAll(async () => {
    ({ brokers } = await testKafka());
    platform = await startPlatform({
      backend: 'postgres',
      env: { KAFKA_BROKERS: brokers.join(','), KAFKA_TOPIC: topic, KAFKA_PARTITIONS: '3' },
    });
  });
  afterAll(() => platform.close());

  it('the event of each run arrives once and in order, and the events endpoint lists the same', async () => {
    await waitFor(() => platform.crawl.logged().includes('publishing events'), {
      what: 'the relay',
    });
    const reader = await readTopic({ brokers }, topic);
    const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 15 };
    await platform.call('POST', '/wiki_1/schedule', { body: { scheduleConfig } });
    for (let count = 1; count <= 3; count += 1) {
      expect((await platform.call('POST', '/wiki_1/run')).status).toBe(202);
      await waitFor(() => reader.messages.length === count, { what: `event ${count}` });
    }
    await reader.stop();
    const received = reader.messages.map(({ event }) => event);
    const { body: runs } = await platform.call('GET', '/wiki_1/runs');
    const ids = runs.data.map(({ eventId }: { eventId: string }) => eventId).toReversed();
    expect(received.map(({ eventId }) => eventId)).toEqual(ids);
    expect(received[0]).toMatchObject({
      eventType: 'ReindexAllRecordEvent',
      payload: { orgId: platform.admin.orgId, connector: 'wiki_1', origin: 'CONNECTOR' },
    });
    const { body: feed } = await platform.call('GET', '/events');
    expect(feed.data).toEqual(received);
  });
});
