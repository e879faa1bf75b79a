import { createLogger, HOUR_MS } from '@platform/service-kit';
import { describeWith, startStopwatch, waitFor } from '@platform/testing';
import type { Queue } from 'bullmq';
import { toQueueName } from '../../src/domain/connectors.js';
import { createQueueBackend } from '../../src/queue/backend.js';
import { daily } from '../support/crawls.js';
import { startEndpoint } from '../support/endpoint.js';
import { useEndpointRuns } from '../support/endpoint-runs.js';
import { isReady } from '../support/replica.js';

const hourly = { scheduleType: 'hourly', minute: 7 };

describeWith('own-redis', 'a flush, a hang and an outage of Redis', () => {
  const runs = useEndpointRuns('redis', { env: { QUEUE_CONCURRENCY: '2' } });
  const { crawls, schedule, startHeldRun } = runs;
  afterEach(() => runs.platform.crawl.setClock(0));

  const post = (path: string, body?: object) => runs.platform.call('POST', path, body && { body });
  const hasLogged = (since: number, text: string) =>
    waitFor(() => runs.platform.crawl.logged().slice(since).includes(text), { what: text });

  /** Returns the number of runs of files_1 that Redis lets start at once. */
  async function findLimit(): Promise<number | null> {
    const { databaseUrl, redis } = runs.platform;
    const log = createLogger('test', 'silent');
    const backend = createQueueBackend({ redisUrl: redis?.url, databaseUrl, maxWorkers: 0, log });
    await waitFor(() => backend.ping().then(() => true), { what: 'the queue' });
    const queue = backend.queue(toQueueName('files_1'), {}) as Queue;
    try {
      return await queue.getGlobalConcurrency();
    } finally {
      await queue.close();
      await backend.close();
    }
  }

  it('after a flush the limit of a queue is back with its first job, and a run in progress publishes one event', async () => {
    await waitFor(async () => (await findLimit()) === 2, { what: 'the limit' });
    const runId = await startHeldRun();
    await runs.platform.redis?.flush();
    expect(await findLimit()).toBeNull();
    const other = await runs.platform.createOrganisation();
    const body = { scheduleConfig: daily, ...(await runs.register(other)) };
    const asOther = { token: other.token, body };
    await runs.platform.call('POST', '/files_1/schedule', asOther);
    expect((await runs.platform.call('POST', '/files_1/run', { token: other.token })).status).toBe(202);
    expect(await findLimit()).toBe(2);
    await waitFor(() => runs.endpoint.held.length === 2, { what: 'the other order' });
    runs.endpoint.release();
    await crawls.outcome('files_1', 'completed');
    expect(await runs.countEvents(runId)).toBe(1);
    await runs.platform.call('DELETE', '/schedule/all', { token: other.token });
  });

  it('during a hang changes are accepted at once and abort runs, a requested run fails with 503, and replacements run afterwards', async () => {
    await crawls.schedule('files_3');
    const runId = await startHeldRun();
    const since = runs.platform.crawl.logged().length;
    runs.platform.redis?.pause();
    try {
      const ofChanges = startStopwatch();
      expect((await post('/files_3/schedule', { scheduleConfig: hourly })).status).toBe(201);
      expect((await post('/files_1/pause')).status).toBe(200);
      expect(ofChanges.stop()).toBeLessThan(1_000);
      const ofRun = startStopwatch();
      expect((await post('/files_3/run')).status).toBe(503);
      expect(ofRun.stop()).toBeLessThan(3_000);
      expect(await crawls.outcome('files_1', 'aborted')).toMatchObject({ runId });
      // The dispatcher logs this when its command has timed out.
      await hasLogged(since, 'Failed to dispatch runs');
    } finally {
      runs.platform.redis?.resume();
    }
    await crawls.expectWhole();
    await runs.platform.crawl.setClock(HOUR_MS);
    // For the dispatcher, the clock has passed the time.
    expect(await crawls.outcome('files_3', 'completed')).toMatchObject({ trigger: 'missed' });
    expect(await crawls.runs('files_3')).toHaveLength(1);
    await crawls.expectWhole();
  });

  it('during an outage the API is ready, reads, schedules and stops, a requested run fails with 503 and leaves no run, and the log stays short', async () => {
    const runId = await startHeldRun();
    const [order] = runs.endpoint.held;
    const since = runs.platform.crawl.logged().length;
    await runs.platform.redis?.stop();
    await hasLogged(since, 'Queue error');
    expect(await isReady(runs.platform.crawl)).toBe(true);
    for (const path of ['/files_1/schedule', '/schedule/all', '/stats', '/files_1/runs', '/events'])
      expect([path, (await runs.platform.call('GET', path)).status]).toEqual([path, 200]);
    expect((await schedule({}, 'mail_1')).status).toBe(201);
    const refused = await post('/mail_1/run');
    expect([refused.status, refused.body, refused.headers.get('retry-after')]).toMatchObject([
      503,
      { success: false, error: { code: 'SERVICE_UNAVAILABLE' } },
      '1',
    ]);
    expect(await crawls.runs('mail_1')).toEqual([]);
    expect((await post('/files_1/pause')).status).toBe(200);
    await waitFor(() => order?.destroyed === true || order?.closed, { what: 'the end of the order' });
    expect(await crawls.outcome('files_1', 'aborted')).toMatchObject({ runId });
    // The service reconnects every second, and 54 listeners get each failure.
    const lines = runs.platform.crawl.logged().slice(since).split('\n');
    const ofConnections = lines.filter((line) => /ECONNREFUSED/.test(line) && /"level":"warn"/.test(line));
    expect(ofConnections.length).toBeLessThanOrEqual(4);
    await runs.platform.redis?.start();
    await crawls.run('mail_1');
    await crawls.outcome('mail_1', 'completed');
    await crawls.expectWhole();
  });

  it("schedules that were created or resumed during an outage run once per tick, and paused or removed ones don't run", async () => {
    for (const connector of ['wiki_1', 'db_1', 'chat_1'] as const) await crawls.schedule(connector, hourly);
    expect((await post('/chat_1/pause')).status).toBe(200);
    await runs.platform.redis?.stop();
    const answers = [
      await post('/issues_1/schedule', { scheduleConfig: hourly }),
      await post('/wiki_1/pause'),
      await post('/chat_1/resume'),
      await runs.platform.call('DELETE', '/db_1/schedule'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 200, 200]);
    await runs.platform.redis?.start();
    await runs.platform.crawl.setClock(HOUR_MS);
    for (const connector of ['issues_1', 'chat_1'] as const) {
      await crawls.outcome(connector, 'completed');
      expect(await crawls.runs(connector)).toHaveLength(1);
    }
    for (const connector of ['wiki_1', 'db_1'] as const) expect(await crawls.runs(connector)).toEqual([]);
    await crawls.expectWhole();
  });

  it('a run in progress survives an outage longer than the lock of its job, with one order and one event', async () => {
    const runId = await startHeldRun();
    await runs.platform.redis?.stop();
    const getLease = async () =>
      (
        await runs.platform.db.query<{ until: Date }>(
          'select greatest(due_at, heartbeat_until) as until from runs where id = $1',
          [runId],
        )
      ).rows[0]?.until ?? new Date(0);
    const first = await getLease();
    // The heartbeat of the run shows that twice the duration of the lock has passed.
    await waitFor(async () => (await getLease()).getTime() > first.getTime() + 2_000, {
      what: 'two renewals of the lease',
    });
    await runs.platform.redis?.start();
    runs.endpoint.release();
    expect(await crawls.outcome('files_1', 'completed')).toMatchObject({ attempts: 1 });
    expect(runs.endpoint.asked).toHaveLength(1);
    expect(await runs.countEvents(runId)).toBe(1);
    await crawls.expectWhole();
  });

  it('of the replicas that start during an outage an API is ready at once, and a worker when Redis is back, without identity', async () => {
    const identity = await startEndpoint();
    await runs.platform.crawl.stop();
    await runs.platform.redis?.stop();
    const roles = [{ ROLE: 'api' }, { ROLE: 'worker', IDENTITY_URL: identity.url }];
    await runs.platform.addCrawl(roles[0], { isFirst: true });
    const worker = await runs.platform.addCrawl(roles[1], { isReadyAwaited: false });
    expect(await isReady(worker)).toBe(false);
    await schedule();
    expect((await post('/files_1/run')).status).toBe(503);
    await runs.platform.redis?.start();
    await waitFor(() => isReady(worker), { what: 'readiness' });
    const runId = await crawls.run('files_1');
    expect(await crawls.outcome('files_1', 'completed')).toMatchObject({ runId });
    expect(identity.asked).toEqual([]);
    await identity.stop();
  });
});
