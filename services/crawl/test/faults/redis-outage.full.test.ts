import { describeWith, startStopwatch, waitFor } from '@platform/testing';
import { daily } from '../support/crawls.js';
import { useHeldRuns } from '../support/held-runs.js';

describeWith('own-redis', 'an outage of Redis', () => {
  const site = useHeldRuns('redis');
  const { complete, schedule, latest, events, startHeldRun, waitForCompletion } = site;

  it('a run in progress during a flush publishes one event', async () => {
    const runId = await startHeldRun();
    await site.platform.redis?.flush();
    complete();
    await waitForCompletion(runId);
    expect(await events(runId)).toHaveLength(1);
  });

  it('while Redis is down schedules can be changed but not run; the changes are applied when it is back', async () => {
    await schedule('mail_1');
    await site.platform.redis?.stop();
    const answer = await site.platform.call('POST', '/mail_1/schedule', {
      body: { scheduleConfig: { ...daily, hour: 9 } },
    });
    expect([answer.status, answer.body.success]).toEqual([201, true]);
    expect((await site.platform.call('GET', '/mail_1/schedule')).body.data.data.scheduleConfig.hour).toBe(9);
    expect((await site.platform.call('GET', '/stats')).status).toBe(200);
    const { length } = (await site.platform.call('GET', '/mail_1/runs')).body.data;
    const refused = await site.platform.call('POST', '/mail_1/run');
    expect([refused.status, refused.body.success]).toEqual([503, false]);
    expect((await site.platform.call('GET', '/mail_1/runs')).body.data).toHaveLength(length);
    await site.platform.redis?.start();
    await site.crawls.expectWhole();
    await waitFor(async () => (await site.platform.call('POST', '/mail_1/run')).status === 202, {
      what: 'a run',
    });
    await waitFor(async () => (await latest('mail_1'))?.outcome === 'completed', {
      what: 'its end',
    });
  });

  it('a run in progress survives an outage longer than the lock of its job, with one request and one event', async () => {
    const runId = await startHeldRun();
    await site.platform.redis?.stop();
    const lease = async () =>
      (
        await site.platform.db.query<{ until: Date }>(
          'select greatest(due_at, heartbeat_until) as until from runs where id = $1',
          [runId],
        )
      ).rows[0]?.until ?? new Date(0);
    const first = await lease();
    // The heartbeat of the run shows that twice the duration of the lock has passed.
    await waitFor(async () => (await lease()).getTime() > first.getTime() + 2_000, {
      what: 'two renewals of the lease',
    });
    await site.platform.redis?.start();
    complete();
    expect(await waitForCompletion(runId)).toMatchObject({ attempts: 1 });
    expect(site.endpoint.asked).toHaveLength(1);
    expect(await events(runId)).toHaveLength(1);
    await site.crawls.expectWhole();
  });

  it('a service that starts while Redis is down works as soon as Redis is up', async () => {
    await site.platform.redis?.stop();
    await site.platform.crawl.stop();
    const late = await site.platform.addCrawl({}, true, false);
    await waitFor(() => late.logged().includes('queue is unavailable'), {
      what: 'a failed connection to Redis',
    });
    await waitFor(async () => (await fetch(`${late.url}/health/ready`)).ok, { what: 'readiness' });
    expect((await schedule('mail_2')).status).toBe(201);
    expect((await site.platform.call('POST', '/mail_2/run')).status).toBe(503);
    await site.platform.redis?.start();
    await site.crawls.expectWhole();
    await waitFor(async () => (await site.platform.call('POST', '/mail_2/run')).status === 202, {
      what: 'a run',
    });
    await waitFor(async () => (await latest('mail_2'))?.outcome === 'completed', {
      what: 'its end',
    });
  });

  it('while Redis hangs changes are accepted without delay, and a requested run fails with 503 within seconds', async () => {
    site.platform.redis?.pause();
    try {
      const stopwatch = startStopwatch();
      expect((await schedule('mail_2')).status).toBe(201);
      expect(stopwatch.stop()).toBeLessThan(1_000);
      const ofRun = startStopwatch();
      expect((await site.platform.call('POST', '/mail_2/run')).status).toBe(503);
      expect(ofRun.stop()).toBeLessThan(3_000);
    } finally {
      site.platform.redis?.resume();
    }
    await site.crawls.expectWhole();
  });
});
