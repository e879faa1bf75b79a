import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { describeWith, type OwnKafka, startOwnKafka, waitFor } from '@platform/testing';
import { countEvents, expectEventsArrived } from '../support/arrivals.js';
import { createCrawls, daily } from '../support/crawls.js';
import { type Endpoint, json, startEndpoint } from '../support/endpoint.js';
import { type Platform, startPlatform } from '../support/platform.js';

/*
 * Longer than any time-out of the service: the lock of a job and the lease of a run (30 s), a Kafka
 * client's patience, and the longest pause of the relay. Those have the
 * values of production here. Both minutes pass at the same time.
 */
const AWAY_MS = 62_000;
const POLL_INTERVAL_MS = 500;

const production = {
  RETRY_DELAY_MS: '5000',
  STALLED_INTERVAL_MS: '30000',
  OVERDUE_GRACE_MS: '60000',
};

const everyMinute = { scheduleType: 'custom', cronExpression: '* * * * *' };

/** Repeats a check until `ms` have passed. Rejects with the first check that fails. */
async function during(ms: number, look: () => Promise<void>): Promise<void> {
  for (const end = performance.now() + ms; performance.now() < end; await delay(POLL_INTERVAL_MS))
    await look();
}

async function redisAway(platform: Platform, endpoint: Endpoint): Promise<void> {
  const crawls = createCrawls(() => platform);
  const held: ServerResponse[] = [];
  endpoint.answer = (_asked, response) => void held.push(response);
  for (const connector of ['files_1', 'mail_1'] as const) await crawls.schedule(connector);
  await crawls.schedule('wiki_1', everyMinute);
  await crawls.schedule('code_1', () => ({
    scheduleType: 'once',
    scheduledTime: new Date(Date.now() + AWAY_MS / 2).toISOString(),
  }));
  const runId = await crawls.run('files_1');
  await waitFor(() => held.length === 1, { what: 'the order' });
  await platform.redis?.stop();
  const goneAt = Date.now();
  const answers: { status: number; body: unknown; retryAfter: string | null }[] = [];
  await during(AWAY_MS, async () => {
    const body = { scheduleConfig: { ...daily, hour: 9 } };
    expect((await platform.call('POST', '/mail_1/schedule', { body })).status).toBe(201);
    const shown = await platform.call('GET', '/mail_1/schedule');
    expect([shown.status, shown.body.data.data.scheduleConfig.hour]).toEqual([200, 9]);
    const refused = await platform.call('POST', '/mail_1/run');
    const { status, headers } = refused;
    answers.push({ status, body: refused.body, retryAfter: headers.get('retry-after') });
  });
  expect(answers.length).toBeGreaterThan(10);
  for (const answer of answers)
    expect(answer).toMatchObject({
      status: 503,
      body: { success: false, error: { code: 'SERVICE_UNAVAILABLE' } },
      retryAfter: '1',
    });
  await platform.redis?.start();
  // Runs that became due meanwhile start late.
  await crawls.outcome('code_1', 'completed');
  await waitFor(
    async () =>
      (await crawls.runs('wiki_1')).some(
        ({ scheduledFor, outcome }) => outcome === 'completed' && Date.parse(scheduledFor) > goneAt,
      ),
    { what: 'a tick' },
  );
  held.forEach((response) => json(response, 200));
  expect(await crawls.outcome('files_1', 'completed')).toMatchObject({ runId, attempts: 1 });
  expect(endpoint.asked).toHaveLength(1);
  await crawls.expectWhole();
  expect(await crawls.runs('mail_1')).toEqual([]);
}

async function kafkaAway(platform: Platform, kafka: OwnKafka, topic: string): Promise<void> {
  const crawls = createCrawls(() => platform);
  const regular = ['wiki_1', 'db_1', 'chat_1'] as const;
  const runEach = () =>
    Promise.all(
      regular.map(async (connector) => {
        const runId = await crawls.run(connector);
        expect(await crawls.outcome(connector, 'completed')).toMatchObject({ runId });
      }),
    );
  await Promise.all(regular.map((connector) => crawls.schedule(connector)));
  await runEach();
  await waitFor(async () => (await countEvents(platform, 'published')) === regular.length, {
    what: 'the first events',
  });
  await kafka.stop();
  await during(AWAY_MS, async () => {
    if ((await countEvents(platform, 'waiting')) < 10 * regular.length) await runEach();
    expect((await platform.call('GET', '/stats')).status).toBe(200);
    expect((await fetch(`${platform.crawl.url}/health/ready`)).status).toBe(200);
  });
  await runEach();
  expect(await countEvents(platform, 'published')).toBe(regular.length);
  expect(await countEvents(platform, 'waiting')).toBeGreaterThanOrEqual(10 * regular.length);
  await kafka.start();
  await expectEventsArrived({ platform, brokers: [kafka.brokers], topic });
}

async function withoutRedis(): Promise<void> {
  const endpoint = await startEndpoint();
  const env = { ...production, TASKS: `files_1=${endpoint.url}` };
  const platform = await startPlatform({ backend: 'redis', env });
  try {
    await redisAway(platform, endpoint);
  } finally {
    await platform.close();
    await endpoint.close();
  }
}

async function withoutKafka(): Promise<void> {
  const topic = `sync-events-${randomUUID()}`;
  const kafka = await startOwnKafka();
  const env = { ...production, KAFKA_BROKERS: kafka.brokers, KAFKA_TOPIC: topic, KAFKA_PARTITIONS: '6' };
  const platform = await startPlatform({ backend: 'postgres', env });
  try {
    await kafkaAway(platform, kafka, topic);
  } finally {
    await platform.close();
    await kafka.close();
  }
}

describeWith('own-redis', 'outages of more than a minute', () => {
  describeWith('own-kafka', 'of Redis and Kafka at the same time', () => {
    let redis: Promise<void>;
    let kafka: Promise<void>;
    beforeAll(() => {
      redis = withoutRedis();
      kafka = withoutKafka();
      // The error is reported by the test below, which may start after it.
      kafka.catch(() => undefined);
    });
    afterAll(() => Promise.allSettled([redis, kafka]), 240_000);

    it('while Redis is down changes are accepted, and everything continues afterwards', async () => {
      await expect(redis).resolves.toBeUndefined();
    });

    it('while Kafka is down the API and the runs continue, and every event arrives in the order of its key', async () => {
      await expect(kafka).resolves.toBeUndefined();
    });
  });
});
