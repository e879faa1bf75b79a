import type { ServerResponse } from 'node:http';
import { waitFor } from '@platform/testing';
import { json } from '../../support/endpoint.js';
import { toKeys, useEndpointRuns } from '../../support/endpoint-runs.js';
import { describeEachBackend } from '../../support/platform.js';

describeEachBackend('an endpoint that fails or is unavailable on %s', (backend) => {
  const runs = useEndpointRuns(backend);
  const { crawls, schedule, item, getPosts, isWaiting } = runs;
  const stats = async () => (await runs.platform.call('GET', '/stats')).body.data;
  const countEvents = async () => [...(await crawls.eventsByKey()).values()].flat().length;

  it('a task that keeps failing is attempted 1 + maxRetries times and publishes no event', async () => {
    const before = await countEvents();
    const { failed } = (await runs.platform.call('GET', '/stats')).body.data;
    runs.endpoint.answer = (_asked, response) => {
      json(response, 500);
    };
    await schedule({ maxRetries: 2 });
    await runs.platform.call('POST', '/files_1/run');
    const run = await crawls.outcome('files_1', 'failed');
    expect(run).toMatchObject({ attempts: 3, reason: 'The endpoint answered 500', eventId: null });
    expect(runs.endpoint.asked).toHaveLength(3);
    expect(await countEvents()).toBe(before);
    expect((await runs.platform.call('GET', '/stats')).body.data.failed).toBe(failed + 1);
  });

  it('a task is attempted once when maxRetries is 0', async () => {
    runs.endpoint.answer = (_asked, response) => {
      json(response, 400);
    };
    await schedule();
    await runs.platform.call('POST', '/files_1/run');
    expect(await crawls.outcome('files_1', 'failed')).toMatchObject({ attempts: 1 });
  });

  it('a request to an endpoint that hangs ends at the timeout', async () => {
    runs.endpoint.answer = () => undefined;
    await schedule({ timeout: 1_000 });
    await runs.platform.call('POST', '/files_1/run');
    expect(await crawls.outcome('files_1', 'failed')).toMatchObject({ reason: 'Timed out after 1000 ms' });
  });

  it.each([
    [
      'names a location of another origin',
      { status: 202, location: 'http://169.254.169.254/latest', state: undefined },
      'another origin',
    ],
    [
      'redirects',
      { status: 302, location: 'http://169.254.169.254/latest', state: undefined },
      'answered 302',
    ],
    ['reports an unknown state', { status: 202, location: '/t', state: 'perhaps' }, 'did not say whether'],
    [
      'reports a failure with its reason',
      { status: 202, location: '/t', state: 'failed' },
      'The source is locked',
    ],
  ])('an endpoint that %s fails the run', async (_title, { status, location, state }, reason) => {
    runs.endpoint.answer = (asked, response) => {
      const headers = { location, 'retry-after': '0' };
      if (asked.method === 'POST') json(response, status, {}, headers);
      else json(response, 200, { state, progress: 1e9, reason: 'The source is locked\u0000\ud800' }, headers);
    };
    await schedule();
    await runs.platform.call('POST', '/files_1/run');
    expect((await crawls.outcome('files_1', 'failed')).reason).toContain(reason);
  });

  it('a response that never ends is cut off', async () => {
    runs.endpoint.answer = (_asked, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const talk = () => {
        while (!response.destroyed && response.write('x'.repeat(16_384)));
        if (!response.destroyed) response.once('drain', talk);
      };
      talk();
    };
    await schedule();
    await runs.platform.call('POST', '/files_1/run');
    expect((await crawls.outcome('files_1', 'failed')).reason).toContain('more than 65536 bytes');
  });

  it('costs no attempt while it refuses connections, and the status shows what the run waits for', async () => {
    await runs.endpoint.stop();
    await schedule();
    const runId = await crawls.run('files_1');
    // The run is delayed between two requests, and active during one.
    const shown = await waitFor(
      async () => {
        const [counts, status, [run]] = await Promise.all([stats(), item(), crawls.runs('files_1')]);
        return (
          counts.delayed === 1 &&
          status.state === 'delayed' &&
          run.outcome === 'retrying' && { counts, status, run }
        );
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

  it.each(['pause', 'removal'])('a %s during the outage ends the run at once', async (what) => {
    runs.endpoint.answer = (_asked, response) => {
      json(response, 503, {}, { 'retry-after': '1' });
    };
    await schedule();
    await crawls.run('files_1');
    await isWaiting();
    const { status } = await (what === 'pause'
      ? runs.platform.call('POST', '/files_1/pause')
      : runs.platform.call('DELETE', '/files_1/schedule'));
    expect(status).toBe(200);
    expect((await crawls.runs('files_1'))[0]).toMatchObject({ outcome: 'aborted' });
    await crawls.expectWhole();
  });

  it.each(['stop', 'kill'] as const)('a %s of the worker during the outage costs no attempt', async (end) => {
    await runs.endpoint.stop();
    await schedule();
    const runId = await crawls.run('files_1');
    await isWaiting();
    await runs.platform.crawl[end]();
    await runs.platform.addCrawl({}, true);
    await runs.endpoint.start();
    expect(await crawls.outcome('files_1', 'completed')).toMatchObject({ runId, attempts: 1 });
    expect(toKeys(getPosts())).toEqual(new Set([`${runId}-1`]));
    await crawls.expectWhole();
  });

  it.each(['is unavailable', 'has its request'])(
    'a one-off run whose schedule is replaced while its endpoint %s continues and completes once',
    async (when) => {
      let held: ServerResponse | undefined;
      runs.endpoint.answer = (_asked, response) => {
        if (when === 'is unavailable') json(response, 503, {}, { 'retry-after': '2' });
        else held = response;
      };
      const scheduledTime = new Date(Date.now() + 500).toISOString();
      await schedule({ scheduleConfig: { scheduleType: 'once', scheduledTime } });
      const run = await crawls.outcome('files_1', when === 'is unavailable' ? 'retrying' : 'active');
      await waitFor(() => getPosts().length > 0, { what: 'the request' });
      expect((await schedule()).status).toBe(201);
      runs.endpoint.answer = (_asked, response) => {
        json(response, 200);
      };
      if (held) json(held, 200);
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
});
