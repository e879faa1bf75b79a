import type { ServerResponse } from 'node:http';
import { type OwnPostgres, startOwnPostgres, startStopwatch, waitFor } from '@platform/testing';
import { createCrawls, daily, SLOW } from '../support/crawls.js';
import { type Endpoint, json, startEndpoint } from '../support/endpoint.js';
import { describeEachBackend, type Platform, startPlatform } from '../support/platform.js';

const connectors = ['mail_1', 'mail_2', 'files_2', 'wiki_1', 'db_1'];

describeEachBackend('faults on %s', (backend) => {
  let platform: Platform;
  let endpoint: Endpoint;
  let postgres: OwnPostgres;
  let held: ServerResponse[] = [];
  const crawls = createCrawls(() => platform);
  beforeAll(async () => {
    endpoint = await startEndpoint();
    postgres = await startOwnPostgres();
    const env = { TASKS: `files_1=${endpoint.url}` };
    platform = await startPlatform({ backend, env, crawlAdminUrl: postgres.url() });
  });
  afterAll(async () => {
    await platform.close();
    await endpoint.close();
    await postgres.close();
  });
  beforeEach(() => {
    held = [];
    endpoint.asked.length = 0;
    endpoint.answer = (_asked, response) => void held.push(response);
  });
  afterEach(async () => {
    held.forEach((response) => json(response, 200));
    await waitFor(async () => (await platform.call('DELETE', '/schedule/all')).status === 200, {
      what: 'removal',
      ...SLOW,
    });
  });

  const schedule = (connector = 'files_1', scheduleConfig: object = daily) =>
    platform.call('POST', `/${connector}/schedule`, { body: { scheduleConfig } });
  const latest = async (connector = 'files_1') =>
    (await platform.call('GET', `/${connector}/runs`)).body.data[0];
  const events = async (runId: string) =>
    (await platform.db.query('select event_id from sync_events.outbox where run_id = $1', [runId])).rows;
  async function startHeldRun(): Promise<string> {
    await schedule();
    const { body } = await platform.call('POST', '/files_1/run');
    await waitFor(() => held.length > 0, { what: 'the order', ...SLOW });
    return body.data.runId as string;
  }
  const completed = (runId: string) =>
    waitFor(async () => {
      const run = await latest();
      return run?.runId === runId && run.outcome === 'completed' && run;
    }, { what: 'completion', ...SLOW }); // prettier-ignore

  it('a run whose worker is killed is gone on with by the next one, and lets one event out', async () => {
    const runId = await startHeldRun();
    await platform.crawl.kill();
    held = [];
    await platform.addCrawl({}, true);
    await waitFor(() => held.length > 0, { what: 'the order again', ...SLOW });
    const [first, second] = endpoint.asked;
    expect(first?.body.runId).toBe(runId);
    expect(second?.body).toEqual(first?.body);
    expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key']);
    held.forEach((response) => json(response, 200));
    expect(await completed(runId)).toMatchObject({ attempts: 1 });
    expect(await events(runId)).toHaveLength(1);
  });

  it('a run under way at a shutdown is handed over at once, and the attempt does not count', async () => {
    const runId = await startHeldRun();
    const next = await platform.addCrawl();
    held = [];
    const stopwatch = startStopwatch();
    expect(await platform.crawl.stop()).toBe(0);
    expect(stopwatch.stop()).toBeLessThan(5_000);
    await waitFor(() => held.length > 0, { what: 'the order again', ...SLOW });
    held.forEach((response) => json(response, 200));
    await next.stop();
    await platform.addCrawl({}, true);
    expect(await completed(runId)).toMatchObject({ attempts: 1 });
  });

  it('a pause that came through another replica aborts the run', async () => {
    const runId = await startHeldRun();
    const second = await platform.addCrawl({ ROLE: 'api' });
    const response = await fetch(`${second.url}/api/v1/crawlingManager/files_1/pause`, {
      method: 'POST',
      headers: { authorization: `Bearer ${platform.admin.token}` },
    });
    expect(response.status).toBe(200);
    await waitFor(() => held[0]?.destroyed === true || held[0]?.closed === true, {
      what: 'the end of the order',
      ...SLOW,
    });
    held.forEach((late) => json(late, 200));
    expect(await latest()).toMatchObject({ runId, outcome: 'aborted' });
    expect(await events(runId)).toHaveLength(0);
    await second.stop();
  });

  it('two replicas run a one-off job once', async () => {
    const second = await platform.addCrawl();
    endpoint.answer = (_asked, response) => {
      json(response, 200);
    };
    await schedule('files_1', {
      scheduleType: 'once',
      scheduledTime: new Date(Date.now() + 500).toISOString(),
    });
    await waitFor(async () => (await latest())?.outcome === 'completed', { what: 'the run', ...SLOW });
    await second.stop();
    expect(endpoint.asked).toHaveLength(1);
  });

  it('an expected run whose job the queue has lost is made up for, once, and counted as missed', async () => {
    await schedule('chat_1');
    const expected = new Date(Date.now() - 60_000).toISOString();
    await platform.db.query(`update schedules set next_run_at = $1 where connector = 'chat_1'`, [expected]);
    const run = await waitFor(async () => {
      const found = await latest('chat_1');
      return found?.scheduledFor === expected && found.outcome === 'completed' && found;
    }, { what: 'the run', ...SLOW }); // prettier-ignore
    expect(run.trigger).toBe('missed');
    const item = (await platform.call('GET', '/chat_1/schedule')).body.data;
    expect(item).toMatchObject({ missedRuns: 1, overdueSince: null, state: 'delayed' });
    expect(Date.parse(item.nextRunAt)).toBeGreaterThan(Date.now());
    const metrics = await (await fetch(`${platform.crawl.url}/metrics`)).text();
    expect(metrics).toMatch(
      /crawl_missed_runs_total\{connector="chat_1",policy="run_once",service="crawl"\} 1/,
    );
  });

  it('a restart of PostgreSQL stops nothing: the run completes, and requests hear 503 meanwhile', async () => {
    const runId = await startHeldRun();
    await postgres.stop();
    const refused = await platform.call('GET', '/files_1/schedule');
    expect(refused.status).toBe(503);
    expect(refused.body).toMatchObject({ success: false, error: { code: 'SERVICE_UNAVAILABLE' } });
    held.forEach((response) => json(response, 200));
    await postgres.start();
    await waitFor(async () => (await platform.call('GET', '/stats')).status === 200, {
      what: 'the API',
      ...SLOW,
    });
    // Where the queue is in PostgreSQL too, the order may have been given once more.
    endpoint.answer = (_asked, response) => {
      json(response, 200);
    };
    await completed(runId);
    expect(await events(runId)).toHaveLength(1);
  });

  if (backend === 'redis') {
    it('a flushed Redis is rebuilt from the rows, and a run in progress ends with one event', async () => {
      for (const connector of connectors) await schedule(connector);
      await schedule('support_1', {
        scheduleType: 'once',
        scheduledTime: new Date(Date.now() + 3_600_000).toISOString(),
      });
      const runId = await startHeldRun();
      await platform.redis?.flush();
      held.forEach((response) => json(response, 200));
      await completed(runId);
      expect(await events(runId)).toHaveLength(1);
      const repairs = async () =>
        Number(
          /crawl_repairs_total\{kind="missing_job",[^}]*\} (\d+)/.exec(
            await (await fetch(`${platform.crawl.url}/metrics`)).text(),
          )?.[1] ?? 0,
        );
      await waitFor(async () => (await repairs()) >= connectors.length + 2, {
        what: 'the repair of every schedule',
        ...SLOW,
      });
    });

    it('while Redis is away changes are accepted and a run is refused; afterwards they are applied', async () => {
      await schedule('mail_1');
      await platform.redis?.stop();
      const answer = await platform.call('POST', '/mail_1/schedule', {
        body: { scheduleConfig: { ...daily, hour: 9 } },
      });
      expect([answer.status, answer.body.success]).toEqual([201, true]);
      expect((await platform.call('GET', '/mail_1/schedule')).body.data.data.scheduleConfig.hour).toBe(9);
      expect((await platform.call('GET', '/stats')).status).toBe(200);
      const { length } = (await platform.call('GET', '/mail_1/runs')).body.data;
      const refused = await platform.call('POST', '/mail_1/run');
      expect([refused.status, refused.body.success]).toEqual([503, false]);
      expect((await platform.call('GET', '/mail_1/runs')).body.data).toHaveLength(length);
      await platform.redis?.start();
      await crawls.expectWhole();
      await waitFor(async () => (await platform.call('POST', '/mail_1/run')).status === 202, {
        what: 'a run',
        ...SLOW,
      });
      await waitFor(async () => (await latest('mail_1'))?.outcome === 'completed', {
        what: 'its end',
        ...SLOW,
      });
    });

    it('a run in progress outlives a Redis that is away for longer than its job is locked: one order, one event', async () => {
      const runId = await startHeldRun();
      await platform.redis?.stop();
      const lease = async () =>
        (
          await platform.db.query<{ until: Date }>(
            'select greatest(lease_until, heartbeat_until) as until from runs where id = $1',
            [runId],
          )
        ).rows[0]?.until ?? new Date(0);
      const first = await lease();
      // Twice the lock, by the heartbeat of the run itself.
      await waitFor(async () => (await lease()).getTime() > first.getTime() + 2_000, {
        what: 'a while',
        ...SLOW,
      });
      await platform.redis?.start();
      // The job is given out again: its run is in hands that are alive.
      await waitFor(() => platform.crawl.logged().includes('a job is claimed by another worker'), {
        what: 'a second delivery',
        ...SLOW,
      });
      held.forEach((response) => json(response, 200));
      expect(await completed(runId)).toMatchObject({ attempts: 1 });
      expect(endpoint.asked).toHaveLength(1);
      expect(await events(runId)).toHaveLength(1);
      await crawls.expectWhole();
    });

    it('a service that starts while Redis is away works as soon as it is there', async () => {
      await platform.redis?.stop();
      await platform.crawl.stop();
      const late = await platform.addCrawl({}, true, false);
      await waitFor(() => late.logged().includes('queue is unavailable'), {
        what: 'a look for Redis',
        ...SLOW,
      });
      expect((await schedule('mail_2')).status).toBe(201);
      expect((await platform.call('POST', '/mail_2/run')).status).toBe(503);
      await platform.redis?.start();
      await crawls.expectWhole();
      await waitFor(async () => (await platform.call('POST', '/mail_2/run')).status === 202, {
        what: 'a run',
        ...SLOW,
      });
      await waitFor(async () => (await latest('mail_2'))?.outcome === 'completed', {
        what: 'its end',
        ...SLOW,
      });
    });

    it('a Redis that hangs keeps no change waiting, and a run is 503 within seconds', async () => {
      platform.redis?.pause();
      try {
        const stopwatch = startStopwatch();
        expect((await schedule('mail_2')).status).toBe(201);
        expect(stopwatch.stop()).toBeLessThan(1_000);
        expect((await platform.call('POST', '/mail_2/run')).status).toBe(503);
        expect(stopwatch.stop()).toBeLessThan(4_000);
      } finally {
        platform.redis?.resume();
      }
      await crawls.expectWhole();
    });
  }
});
