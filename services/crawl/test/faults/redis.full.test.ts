import { HOUR_MS } from '@platform/service-kit';
import { describeWith, startStopwatch, waitFor } from '@platform/testing';
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

  /** Schedules a run now for another organisation. @returns what it calls with. */
  async function runOther() {
    const { orgId, token } = await runs.platform.createOrganisation();
    const worker = await runs.register({ orgId, token });
    const body = { scheduleConfig: daily, ...worker };
    expect((await runs.platform.call('POST', '/files_1/schedule', { token, body })).status).toBe(201);
    expect((await runs.platform.call('POST', '/files_1/run', { token })).status).toBe(202);
    return { token };
  }

  it('a flush changes no limit, and a run in progress publishes one event', async () => {
    const runId = await startHeldRun();
    await runs.platform.redis?.flush();
    const others = [await runOther(), await runOther()];
    await waitFor(() => runs.endpoint.held.length === 2, { what: 'the second order' });
    // The third run has been announced more than once by then.
    await waitFor(
      async () =>
        (
          await runs.platform.db.query(
            `select from runs where state = 'waiting' and created_at < now() - interval '2 s'`,
          )
        ).rowCount === 1,
      { what: 'a run that waits' },
    );
    expect(runs.endpoint.held).toHaveLength(2);
    runs.endpoint.reply(200);
    runs.endpoint.release();
    await crawls.outcome('files_1', 'completed');
    await waitFor(() => runs.endpoint.asked.length === 3, { what: 'the third order' });
    expect(await runs.countEvents(runId)).toBe(1);
    for (const other of others) await runs.platform.call('DELETE', '/schedule/all', other);
  });

  it('runs whose jobs are lost with a flush while no worker takes them start by themselves', async () => {
    await runs.platform.crawl.stop();
    const api = await runs.platform.addCrawl({ ROLE: 'api' }, { isFirst: true });
    await crawls.schedule('support_2');
    const runId = await crawls.run('support_2');
    await runs.platform.redis?.flush();
    const worker = await runs.platform.addCrawl({ ROLE: 'worker' });
    expect(await crawls.outcome('support_2', 'completed')).toMatchObject({ runId });
    await crawls.expectWhole();
    await Promise.all([api.stop(), worker.stop()]);
    await runs.platform.addCrawl({}, { isFirst: true });
  });

  it('during a hang changes and requested runs are accepted at once, runs are aborted, and what is due runs afterwards', async () => {
    for (const connector of ['files_3', 'support_1'] as const) await crawls.schedule(connector);
    const runId = await startHeldRun();
    const since = runs.platform.crawl.logged().length;
    runs.platform.redis?.pause();
    try {
      const ofChanges = startStopwatch();
      expect((await post('/files_3/schedule', { scheduleConfig: hourly })).status).toBe(201);
      expect((await post('/files_1/pause')).status).toBe(200);
      expect((await post('/support_1/run')).status).toBe(202);
      expect(ofChanges.stop()).toBeLessThan(1_000);
      expect(await crawls.outcome('files_1', 'aborted')).toMatchObject({ runId });
      // It is logged when the command has timed out.
      await hasLogged(since, 'ailed to announce');
    } finally {
      runs.platform.redis?.resume();
    }
    await crawls.outcome('support_1', 'completed');
    await crawls.expectWhole();
    await runs.platform.crawl.setClock(HOUR_MS);
    // For the dispatcher, the clock has passed the time.
    expect(await crawls.outcome('files_3', 'completed')).toMatchObject({ trigger: 'missed' });
    expect(await crawls.runs('files_3')).toHaveLength(1);
    await crawls.expectWhole();
  });

  it('CRAWL-78 during an outage the API is ready, reads, schedules, stops and accepts a requested run, which waits, and the log stays short and says when it is over', async () => {
    const runId = await startHeldRun();
    const [order] = runs.endpoint.held;
    const since = runs.platform.crawl.logged().length;
    await runs.platform.redis?.stop();
    await hasLogged(since, 'Queue error');
    expect(await isReady(runs.platform.crawl)).toBe(true);
    for (const path of ['/files_1/schedule', '/schedule/all', '/stats', '/files_1/runs', '/events'])
      expect([path, (await runs.platform.call('GET', path)).status]).toEqual([path, 200]);
    expect((await schedule({}, 'mail_1')).status).toBe(201);
    const requested = await post('/mail_1/run');
    expect(requested.status).toBe(202);
    const { runId: waitingId } = requested.body.data;
    expect(await crawls.runs('mail_1')).toMatchObject([{ runId: waitingId, outcome: 'waiting' }]);
    expect((await post('/files_1/pause')).status).toBe(200);
    await waitFor(() => order?.destroyed === true || order?.closed, { what: 'the end of the order' });
    expect(await crawls.outcome('files_1', 'aborted')).toMatchObject({ runId });
    // The service reconnects every second, and 54 listeners get each failure.
    const lines = runs.platform.crawl.logged().slice(since).split('\n');
    const ofConnections = lines.filter((line) => /ECONNREFUSED/.test(line) && /"level":"warn"/.test(line));
    expect(ofConnections.length).toBeLessThanOrEqual(4);
    expect(runs.platform.crawl.logged().slice(since)).not.toContain('takes jobs again');
    await runs.platform.redis?.start();
    expect(await crawls.outcome('mail_1', 'completed')).toMatchObject({ runId: waitingId });
    await hasLogged(since, 'The queue takes jobs again');
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
    const runId = await crawls.run('files_1');
    await runs.platform.redis?.start();
    await waitFor(() => isReady(worker), { what: 'readiness' });
    expect(await crawls.outcome('files_1', 'completed')).toMatchObject({ runId });
    expect(identity.asked).toEqual([]);
    await identity.stop();
  });
});
