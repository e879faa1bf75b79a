import { waitFor } from '@platform/testing';
import { onceIn } from '../../support/crawls.js';
import { followTask, json } from '../../support/endpoint.js';
import { toKeys, useEndpointRuns } from '../../support/endpoint-runs.js';

/* How runs follow an endpoint that fails, hangs or is unavailable. The grace for endpoints is five minutes. */

describe('a run whose endpoint', () => {
  const runs = useEndpointRuns('postgres');
  const { crawls, schedule, item, getPosts } = runs;
  const getStatistics = async () => (await runs.platform.call('GET', '/stats')).body.data;

  it('keeps failing is attempted 1 + maxRetries times, with the same id, and publishes no event', async () => {
    const { failed } = await getStatistics();
    runs.endpoint.reply(500);
    await schedule({ maxRetries: 2, metadata: { folder: 'x' }, priority: 2 });
    const headers = { 'x-request-id': 'asked-for-by-hand' };
    const { body } = await runs.platform.call('POST', '/files_1/run', { headers });
    const { runId } = body.data;
    expect(await crawls.outcome('files_1', 'failed')).toMatchObject({
      runId,
      attempts: 3,
      reason: 'The endpoint answered 500',
      eventId: null,
    });
    expect([...toKeys(getPosts())]).toEqual([`${runId}-1`, `${runId}-2`, `${runId}-3`]);
    const { orgId } = runs.platform.admin;
    const ordered = { runId, connector: 'files_1', orgId, metadata: { folder: 'x' }, priority: 2 };
    for (const asked of getPosts()) {
      expect(asked.body).toMatchObject(ordered);
      expect(asked.headers).toMatchObject(headers);
    }
    expect(await runs.countEvents(runId)).toBe(0);
    expect((await getStatistics()).failed).toBe(failed + 1);
    const settled = await waitFor(
      () => {
        const lines = runs.platform.crawl.logged().split('\n');
        const found = lines.filter((line) => line.includes(runId) && line.includes('run settled'));
        return found.length === 3 && found;
      },
      { what: 'a line for each attempt' },
    );
    expect(settled.map((line) => (JSON.parse(line) as { requestId: string }).requestId)).toEqual(
      Array(3).fill('asked-for-by-hand'),
    );
  });

  it('hangs ends at the timeout (CRAWL-28)', async () => {
    runs.endpoint.hold();
    await schedule({ timeout: 1_000 });
    await crawls.run('files_1');
    expect(await crawls.outcome('files_1', 'failed')).toMatchObject({ reason: 'Timed out after 1000 ms' });
  });

  it('loses a response and is then overloaded posts the same order again when Retry-After says so', async () => {
    runs.endpoint.answer = (_asked, response) => {
      const count = getPosts().length;
      if (count === 1) response.destroy();
      else if (count === 2) json(response, 503, {}, { 'retry-after': '2' });
      else json(response, 204);
    };
    await schedule();
    const runId = await crawls.run('files_1');
    expect(await crawls.outcome('files_1', 'completed')).toMatchObject({ runId, attempts: 1 });
    const [first, second, third, ...more] = getPosts();
    expect(more).toEqual([]);
    expect((third?.at ?? 0) - (second?.at ?? 0)).toBeGreaterThan(1_900);
    expect([second?.text, third?.text]).toEqual([first?.text, first?.text]);
    expect(toKeys(getPosts())).toEqual(new Set([`${runId}-1`]));
  });

  it('refuses connections costs no attempt, and the status shows what the run waits for', async () => {
    await runs.endpoint.stop();
    await schedule();
    const runId = await crawls.run('files_1');
    // The run is delayed between two requests, and active during one.
    const shown = await waitFor(
      async () => {
        const [counts, status, [run]] = await Promise.all([getStatistics(), item(), crawls.runs('files_1')]);
        const isWaiting = counts.delayed === 1 && status.state === 'delayed' && run.outcome === 'retrying';
        return isWaiting && { counts, status, run };
      },
      { what: 'a wait' },
    );
    expect(shown.counts).toMatchObject({ active: 0, waiting: 0 });
    expect(shown.run).toMatchObject({ runId, attempts: 0 });
    expect(shown.status).toMatchObject({
      attemptsMade: 0,
      failedReason: expect.stringMatching(/^Waiting for the endpoint: .*nothing listens at its address$/),
    });
    await runs.endpoint.start();
    expect(await crawls.outcome('files_1', 'completed')).toMatchObject({ runId, attempts: 1, reason: null });
    expect(toKeys(getPosts())).toEqual(new Set([`${runId}-1`]));
  });

  it('has its task is followed while the endpoint is unavailable for longer than the timeout', async () => {
    const timeout = 5_000;
    let awayAt = 0;
    runs.endpoint.answer = (asked, response) => {
      if (awayAt > 0 && asked.at - awayAt < 1.2 * timeout) json(response, 503);
      else followTask(() => ({ state: awayAt > 0 ? 'completed' : 'running', progress: 50 }))(asked, response);
    };
    await schedule({ timeout });
    await crawls.run('files_1');
    await waitFor(async () => (await item()).progress === 50, { what: 'progress' });
    awayAt = performance.now();
    await waitFor(async () => (await item()).failedReason !== null, { what: 'the reason' });
    expect(await item()).toMatchObject({
      state: 'active',
      progress: 50,
      attemptsMade: 1,
      failedReason: expect.stringMatching(/^Waiting for the endpoint:/),
    });
    expect(await crawls.outcome('files_1', 'completed')).toMatchObject({ attempts: 1, reason: null });
    expect(getPosts()).toHaveLength(1);
    expect(runs.getCancellations()).toEqual([]);
  });

  it.each(['is unavailable', 'has its order'])(
    '%s completes once when its one-off schedule is replaced meanwhile',
    async (when) => {
      if (when === 'is unavailable') runs.endpoint.reply(503, {}, { 'retry-after': '2' });
      else runs.endpoint.hold();
      await crawls.schedule('files_1', () => onceIn(500));
      const run = await crawls.outcome('files_1', when === 'is unavailable' ? 'retrying' : 'active');
      await waitFor(() => getPosts().length > 0, { what: 'the order' });
      expect((await schedule()).status).toBe(201);
      runs.endpoint.reply(200);
      runs.endpoint.release();
      expect(await crawls.outcome('files_1', 'completed')).toMatchObject({ runId: run.runId, attempts: 1 });
      const { rows } = await runs.platform.db.query('select recoveries from runs where id = $1', [run.runId]);
      expect(rows).toEqual([{ recoveries: 0 }]);
      expect(await item()).toMatchObject({
        state: 'delayed',
        data: { scheduleConfig: { scheduleType: 'daily' } },
      });
      await crawls.expectWhole();
    },
  );

  it('is called without a credential needs no identity', async () => {
    // The worker asks the endpoint, as identity, for nothing: an API would fetch the keys before it is ready.
    await runs.platform.crawl.stop();
    await runs.platform.addCrawl({ ROLE: 'api' }, { isFirst: true });
    const worker = await runs.platform.addCrawl({ ROLE: 'worker', IDENTITY_URL: runs.endpoint.url });
    await schedule();
    await crawls.run('files_1');
    await crawls.outcome('files_1', 'completed');
    expect(runs.endpoint.asked.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /crawl']);
    await worker.stop();
  });
});
