import type { ServerResponse } from 'node:http';
import { HOUR_MS } from '@platform/service-kit';
import { describeWith, startStopwatch, waitFor } from '@platform/testing';
import { createCrawls, daily } from '../support/crawls.js';
import { type Endpoint, startEndpoint } from '../support/endpoint.js';
import { type Platform, startPlatform } from '../support/platform.js';

const hourly = { scheduleType: 'hourly', minute: 7 };

describeWith('own-redis', 'a flush, a hang and an outage of Redis', () => {
  let platform: Platform;
  let endpoint: Endpoint;
  const held: ServerResponse[] = [];
  const crawls = createCrawls(() => platform);
  beforeAll(async () => {
    endpoint = await startEndpoint();
    endpoint.answer = (_asked, response) => void held.push(response);
    const env = {
      TASKS: `mail_1=${endpoint.url},mail_2=${endpoint.url}`,
      QUEUE_CONCURRENCY: '2',
      CLOCK_AHEAD_MS: '0',
    };
    platform = await startPlatform({ backend: 'redis', env });
  });
  afterAll(async () => {
    await platform.close();
    await endpoint.close();
  });
  afterEach(() => platform.call('DELETE', '/schedule/all'));

  const post = (path: string, scheduleConfig?: object) =>
    platform.call('POST', path, scheduleConfig && { body: { scheduleConfig } });

  it('limits the concurrency of a queue to the configured number, also right after a flush', async () => {
    await crawls.schedule('files_1', daily);
    await waitFor(async () => (await platform.queues.findConcurrency('files_1')) === 2, {
      what: 'the limit',
    });
    await platform.redis?.flush();
    expect((await post('/files_1/run')).status).toBe(202);
    expect(await platform.queues.findConcurrency('files_1')).toBe(2);
    await crawls.outcome('files_1', 'completed');
  });

  it('while Redis hangs a replacement is accepted at once, and it is the one that runs afterwards', async () => {
    await crawls.schedule('files_3', daily);
    await crawls.expectWhole();
    platform.redis?.pause();
    const stopwatch = startStopwatch();
    expect((await post('/files_3/schedule', hourly)).status).toBe(201);
    expect(stopwatch.stop()).toBeLessThan(1_000);
    // The dispatcher logs this when its command has timed out.
    await waitFor(() => platform.crawl.logged().includes('Failed to dispatch runs'), {
      what: 'a command that timed out',
    });
    platform.redis?.resume();
    await crawls.expectWhole();
    await platform.crawl.setClock(HOUR_MS);
    // For the dispatcher, the clock has passed the time.
    expect(await crawls.outcome('files_3', 'completed')).toMatchObject({ trigger: 'missed' });
    expect(await crawls.runs('files_3')).toHaveLength(1);
    await crawls.expectWhole();
    await platform.crawl.setClock(0);
  });

  it("schedules that were created or resumed during an outage run once per tick, and paused or removed ones don't run", async () => {
    for (const connector of ['wiki_1', 'db_1', 'chat_1'] as const) await crawls.schedule(connector, hourly);
    expect((await post('/chat_1/pause')).status).toBe(200);
    await crawls.expectWhole();
    await platform.redis?.stop();
    const answers = [
      await post('/issues_1/schedule', hourly),
      await post('/wiki_1/pause'),
      await post('/chat_1/resume'),
      await platform.call('DELETE', '/db_1/schedule'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 200, 200]);
    expect((await platform.call('GET', '/db_1/schedule')).status).toBe(404);
    await platform.redis?.start();
    await crawls.expectWhole();
    await platform.crawl.setClock(HOUR_MS);
    for (const connector of ['issues_1', 'chat_1'] as const) {
      await crawls.outcome(connector, 'completed');
      expect(await crawls.runs(connector)).toHaveLength(1);
    }
    for (const connector of ['wiki_1', 'db_1'] as const) expect(await crawls.runs(connector)).toEqual([]);
    await crawls.expectWhole();
    await platform.crawl.setClock(0);
  });

  it('during an outage the API is ready, reads, schedules and stops, a requested run fails with 503, and the log stays short', async () => {
    await crawls.schedule('mail_1', daily);
    await crawls.schedule('mail_2', daily);
    held.length = 0;
    await crawls.run('mail_1');
    await crawls.run('mail_2');
    await waitFor(() => held.length === 2, { what: 'the requests' });
    const quiet = platform.crawl.logged().length;
    await platform.redis?.stop();
    const stoppedAt = performance.now();
    await waitFor(() => platform.crawl.logged().slice(quiet).includes('Queue error'), {
      what: 'a line in the log',
    });
    const ready = await fetch(`${platform.crawl.url}/health/ready`);
    expect([ready.status, await ready.json()]).toMatchObject([200, { status: 'ready' }]);
    for (const path of ['/mail_1/schedule', '/schedule/all', '/stats', '/mail_1/runs', '/events'])
      expect([path, (await platform.call('GET', path)).status]).toEqual([path, 200]);
    expect((await post('/wiki_1/schedule', daily)).status).toBe(201);
    expect((await post('/wiki_1/run')).status).toBe(503);
    // Pausing and removing abort the runs.
    expect((await post('/mail_1/pause')).status).toBe(200);
    expect((await platform.call('DELETE', '/schedule/all')).status).toBe(200);
    await waitFor(() => held.every(({ destroyed }) => destroyed), {
      what: 'the end of the requests',
    });
    for (const connector of ['mail_1', 'mail_2'] as const) await crawls.outcome(connector, 'aborted');
    // The service reconnects every second, and 54 listeners get each failure.
    await waitFor(() => performance.now() - stoppedAt > 5_000, { what: 'five seconds' });
    const lines = platform.crawl.logged().slice(quiet).split('\n');
    const aboutConnections = lines.filter(
      (line) => line.includes('ECONNREFUSED') && line.includes('"level":"warn"'),
    );
    expect(aboutConnections.length).toBeGreaterThan(0);
    expect(aboutConnections.length).toBeLessThanOrEqual(4);
    await platform.redis?.start();
    await crawls.schedule('mail_1', daily);
    await crawls.expectWhole();
  });

  it('a worker is not ready while its queue is unavailable', async () => {
    const worker = await platform.addCrawl({ ROLE: 'worker' });
    const getStatus = async () => (await fetch(`${worker.url}/health/ready`)).status;
    expect(await getStatus()).toBe(200);
    await platform.redis?.stop();
    await waitFor(async () => (await getStatus()) === 503, { what: 'a worker that is not ready' });
    await platform.redis?.start();
    await waitFor(async () => (await getStatus()) === 200, { what: 'a worker that is ready' });
    await worker.stop();
  });
});
