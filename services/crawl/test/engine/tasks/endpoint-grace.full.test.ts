import { waitFor } from '@platform/testing';
import { type Asked, json } from '../../support/endpoint.js';
import { toKeys, useEndpointRuns } from '../../support/endpoint-runs.js';

/* These tests use one queue backend, because it makes no difference to them. */

describe('the grace of an endpoint', () => {
  const runs = useEndpointRuns('postgres', { hasOwnIdentity: true });
  const { crawls, schedule, item, getPosts, waitForCancellation, getAgeAtCancellation } = runs;

  it.each([
    ['seconds', 503, () => '2'],
    ['a date', 429, () => new Date(Date.now() + 3_000).toUTCString()],
  ])('is asked again when Retry-After says so, in %s', async (_title, status, retryAfter) => {
    runs.endpoint.answer = (_asked, response) => {
      if (getPosts().length === 1) json(response, status, {}, { 'retry-after': retryAfter() });
      else json(response, 200);
    };
    await schedule();
    const runId = await crawls.run('files_1');
    expect(await crawls.outcome('files_1', 'completed')).toMatchObject({ attempts: 1 });
    const [first, second, ...more] = getPosts();
    expect(more).toEqual([]);
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(1_900);
    expect([second?.text, toKeys(getPosts())]).toEqual([first?.text, new Set([`${runId}-1`])]);
  });

  it('an endpoint gets the same request again when its response was lost', async () => {
    runs.endpoint.answer = (_asked, response) => {
      if (getPosts().length === 1) response.destroy();
      else json(response, 204);
    };
    await schedule();
    const runId = await crawls.run('files_1');
    expect(await crawls.outcome('files_1', 'completed')).toMatchObject({ attempts: 1 });
    expect(toKeys(getPosts())).toEqual(new Set([`${runId}-1`]));
    expect(getPosts()).toHaveLength(2);
  });

  it('a task is kept when its endpoint is unavailable while it runs', async () => {
    let state = 'running';
    let broken = 0;
    runs.endpoint.answer = ({ method }, response) => {
      const headers = { location: '/tasks/7', 'retry-after': '0' };
      if (method === 'POST') json(response, 202, {}, headers);
      else if (state === 'away') {
        broken += 1;
        if (broken === 1) response.destroy();
        else json(response, 503, {}, headers);
      } else json(response, 200, { state, progress: 50 }, headers);
    };
    await schedule();
    await crawls.run('files_1');
    await waitFor(async () => (await item()).progress === 50, { what: 'progress' });
    state = 'away';
    await waitFor(async () => (await item()).failedReason !== null, { what: 'the reason' });
    expect(await item()).toMatchObject({
      state: 'active',
      progress: 50,
      attemptsMade: 1,
      failedReason: expect.stringMatching(/^Waiting for the endpoint:/),
    });
    // More often than an endpoint may send invalid responses.
    await waitFor(() => broken > 6, { what: 'questions' });
    state = 'running';
    await waitFor(async () => (await item()).failedReason === null, { what: 'its return' });
    state = 'completed';
    expect(await crawls.outcome('files_1', 'completed')).toMatchObject({ attempts: 1, reason: null });
    expect(runs.endpoint.asked.map(({ method }) => method)).not.toContain('DELETE');
    expect(getPosts()).toHaveLength(1);
  });

  it.each(['before it has the task', 'while it has the task'])(
    'an endpoint may be unavailable for longer than the timeout of the run, %s',
    async (when) => {
      const timeout = 2_000;
      let awayAt: number | undefined;
      const isAway = ({ at }: Asked) => at - (awayAt ??= at) < 1.5 * timeout;
      runs.endpoint.answer = (asked, response) => {
        const headers = { location: '/tasks/7', 'retry-after': '0' };
        if (when === 'while it has the task' && asked.method === 'POST') json(response, 202, {}, headers);
        else if (isAway(asked)) json(response, 503, {}, headers);
        else json(response, 200, { state: 'completed' });
      };
      await schedule({ timeout });
      const runId = await crawls.run('files_1');
      expect(await crawls.outcome('files_1', 'completed')).toMatchObject({ runId, attempts: 1 });
      expect(toKeys(getPosts())).toEqual(new Set([`${runId}-1`]));
      expect(runs.endpoint.asked.map(({ method }) => method)).not.toContain('DELETE');
    },
  );

  it('an attempt ends after the grace, and the next attempt has another key', async () => {
    await runs.platform.crawl.stop();
    await runs.platform.addCrawl({ ENDPOINT_GRACE_MS: '2000' }, true);
    runs.endpoint.answer = (_asked, response) => {
      json(response, 503);
    };
    const timeout = 60_000;
    await schedule({ timeout, maxRetries: 1 });
    const runId = await crawls.run('files_1');
    const run = await crawls.outcome('files_1', 'failed');
    expect(run).toMatchObject({
      attempts: 2,
      reason: expect.stringMatching(/^The endpoint answered 503, for \d+ s$/),
    });
    expect(toKeys(getPosts())).toEqual(new Set([`${runId}-1`, `${runId}-2`]));
    // The attempt has its whole timeout each time that its request is posted.
    for (const { headers, at } of getPosts())
      expect(
        Math.abs(Date.parse(String(headers['x-run-deadline'])) - performance.timeOrigin - at - timeout),
      ).toBeLessThan(5_000);
  });

  it('an attempt ends within its timeout and grace together when the endpoint is unavailable repeatedly', async () => {
    await runs.platform.crawl.stop();
    await runs.platform.addCrawl({ ENDPOINT_GRACE_MS: '4000' }, true);
    // Long enough for a busy machine to use up the grace first.
    const timeout = 30_000;
    let polls = 0;
    runs.endpoint.answer = ({ method }, response) => {
      const headers = { location: '/tasks/7', 'retry-after': '0' };
      if (method === 'POST') json(response, 202, {}, headers);
      else if (++polls % 2 === 0) json(response, 429, {}, { 'retry-after': '1' });
      else json(response, 200, { state: 'running' }, headers);
    };
    await schedule({ timeout });
    await crawls.run('files_1');
    const { reason } = await crawls.outcome('files_1', 'failed');
    expect(reason).toBe('The endpoint answered 429, away for 4 s in all');
    await waitForCancellation();
    expect(getAgeAtCancellation()).toBeLessThan(timeout + 4_000);
  });

  it('an attempt has one grace, before and after the endpoint has accepted the task', async () => {
    await runs.platform.crawl.stop();
    await runs.platform.addCrawl({ ENDPOINT_GRACE_MS: '6000' }, true);
    runs.endpoint.answer = ({ method, at }, response) => {
      const isAccepted = method === 'POST' && at - (getPosts()[0]?.at ?? at) > 3_000;
      if (isAccepted) json(response, 202, {}, { location: '/tasks/7', 'retry-after': '0' });
      else json(response, 503, {}, { 'retry-after': '1' });
    };
    await schedule({ timeout: 60_000 });
    await crawls.run('files_1');
    const { reason } = await crawls.outcome('files_1', 'failed');
    expect(reason).toBe('The endpoint answered 503, away for 6 s in all');
    await waitForCancellation();
    // A second grace would begin with the acceptance.
    expect(getAgeAtCancellation()).toBeLessThan(3_000 + 6_000);
  });

  it('runs continue while identity is unavailable, because they need no credential', async () => {
    const scheduledTime = new Date(Date.now() + 3_000).toISOString();
    await schedule({ scheduleConfig: { scheduleType: 'once', scheduledTime } });
    await runs.platform.stopIdentity();
    await waitFor(
        async () =>
          (await runs.platform.db.query(`select from runs where scheduled_for = $1 and state = 'completed'`, [scheduledTime]))
            .rowCount === 1,
        { what: 'the run' },
      ); // prettier-ignore
    expect(getPosts()).toHaveLength(1);
  });
});
