import { startStopwatch, waitFor } from '@platform/testing';
import { useHeldRuns } from '../support/held-runs.js';
import { describeEachBackend } from '../support/platform.js';

describeEachBackend('interrupted runs on %s', (backend) => {
  const site = useHeldRuns(backend, { hasOwnPostgres: true });
  const { complete, completeAll, waitForRequest, schedule, latest, events, startHeldRun, waitForCompletion } =
    site;

  it('a run whose worker is killed is continued by another worker and publishes one event', async () => {
    const runId = await startHeldRun();
    await site.platform.crawl.kill();
    complete();
    await site.platform.addCrawl({}, true);
    await waitForRequest();
    const [first, second] = site.endpoint.asked;
    expect(first?.body.runId).toBe(runId);
    expect(second?.body).toEqual(first?.body);
    expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key']);
    complete();
    expect(await waitForCompletion(runId)).toMatchObject({ attempts: 1 });
    expect(await events(runId)).toHaveLength(1);
  });

  it('a worker that shuts down releases its run at once, and the attempt does not count', async () => {
    const runId = await startHeldRun();
    const next = await site.platform.addCrawl();
    const stopwatch = startStopwatch();
    expect(await site.platform.crawl.stop()).toBe(0);
    expect(stopwatch.stop()).toBeLessThan(5_000);
    await waitFor(() => site.endpoint.asked.length > 1, { what: 'the request of the other worker' });
    complete();
    await next.stop();
    await site.platform.addCrawl({}, true);
    expect(await waitForCompletion(runId)).toMatchObject({ attempts: 1 });
  });

  it('pausing through another replica aborts the run', async () => {
    const runId = await startHeldRun();
    const request = await waitForRequest();
    const second = await site.platform.addCrawl({ ROLE: 'api' });
    const response = await fetch(`${second.url}/api/v1/crawlingManager/files_1/pause`, {
      method: 'POST',
      headers: { authorization: `Bearer ${site.platform.admin.token}` },
    });
    expect(response.status).toBe(200);
    await waitFor(() => request.destroyed || request.closed, {
      what: 'the end of the request to the endpoint',
    });
    complete();
    expect(await latest()).toMatchObject({ runId, outcome: 'aborted' });
    expect(await events(runId)).toHaveLength(0);
    await second.stop();
  });

  it('two replicas run a one-off schedule once', async () => {
    const second = await site.platform.addCrawl();
    completeAll();
    // A time that has passed when the request is read is refused.
    const scheduleOnce = () =>
      schedule('files_1', {
        scheduleType: 'once',
        scheduledTime: new Date(Date.now() + 1_000).toISOString(),
      });
    await waitFor(async () => (await scheduleOnce()).status === 201, { what: 'the schedule' });
    await waitFor(async () => (await latest())?.outcome === 'completed', { what: 'the run' });
    await second.stop();
    expect(site.endpoint.asked).toHaveLength(1);
  });

  it('a run whose job the queue has lost starts late, once, and counts as missed', async () => {
    await schedule('chat_1');
    const expected = new Date(Date.now() - 60_000).toISOString();
    await site.platform.db.query(`update schedules set next_run_at = $1 where connector = 'chat_1'`, [
      expected,
    ]);
    const run = await waitFor(
      async () => {
        const found = await latest('chat_1');
        return found?.scheduledFor === expected && found.outcome === 'completed' && found;
      },
      { what: 'the run' },
    );
    expect(run.trigger).toBe('missed');
    const item = (await site.platform.call('GET', '/chat_1/schedule')).body.data;
    expect(item).toMatchObject({ missedRuns: 1, overdueSince: null, state: 'delayed' });
    expect(Date.parse(item.nextRunAt)).toBeGreaterThan(Date.now());
    const metrics = await (await fetch(`${site.platform.crawl.url}/metrics`)).text();
    expect(metrics).toMatch(
      /crawl_missed_runs_total\{connector="chat_1",policy="run_once",service="crawl"\} 1/,
    );
  });

  it('a run survives a restart of PostgreSQL, and requests fail with 503 meanwhile', async () => {
    const runId = await startHeldRun();
    await site.postgres?.stop();
    const refused = await site.platform.call('GET', '/files_1/schedule');
    expect(refused.status).toBe(503);
    expect(refused.body).toMatchObject({ success: false, error: { code: 'SERVICE_UNAVAILABLE' } });
    complete();
    await site.postgres?.start();
    await waitFor(async () => (await site.platform.call('GET', '/stats')).status === 200, {
      what: 'the API',
    });
    // Where PostgreSQL holds the queues too, the endpoint may have got a second request.
    completeAll();
    await waitForCompletion(runId);
    expect(await events(runId)).toHaveLength(1);
  });
});
