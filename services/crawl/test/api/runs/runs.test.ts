import type { ServerResponse } from 'node:http';
import { waitFor } from '@platform/testing';
import { type Endpoint, json, startEndpoint } from '../../support/endpoint.js';
import { describeEachBackend, type Platform, startPlatform } from '../../support/platform.js';

const daily = { scheduleType: 'daily', hour: 2, minute: 15 };

describeEachBackend('runs on %s', (backend) => {
  let platform: Platform;
  let endpoint: Endpoint;
  beforeAll(async () => {
    endpoint = await startEndpoint();
    platform = await startPlatform({ backend, env: { TASKS: `files_1=${endpoint.url}` } });
  });
  afterAll(async () => {
    await platform.close();
    await endpoint.close();
  });
  beforeEach(() => {
    endpoint.asked.length = 0;
    endpoint.answer = (_asked, response) => {
      json(response, 200);
    };
  });
  afterEach(() => platform.call('DELETE', '/schedule/all'));

  const schedule = (body: object = {}, connector = 'files_1') =>
    platform.call('POST', `/${connector}/schedule`, { body: { scheduleConfig: daily, ...body } });
  const latest = async (connector = 'files_1') =>
    (await platform.call('GET', `/${connector}/runs`)).body.data[0];
  const outcome = (wanted: string, connector = 'files_1') =>
    waitFor(async () => {
      const run = await latest(connector);
      return run?.outcome === wanted && run;
    }, { what: `the outcome ${wanted}`, timeoutMs: 15_000 }); // prettier-ignore
  const getEvents = async (connector = 'files_1') =>
    (
      await platform.db.query(`select event from sync_events.outbox where event_key like $1`, [
        `%:${connector}`,
      ])
    ).rows.length;

  it('a requested run leaves the schedule as it is, and only one runs at a time', async () => {
    const held: ServerResponse[] = [];
    endpoint.answer = (_asked, response) => void held.push(response);
    expect((await platform.call('POST', '/files_1/run')).status).toBe(404);
    await schedule();
    const before = (await platform.call('GET', '/files_1/schedule')).body.data.nextRunAt;
    const { status, body } = await platform.call('POST', '/files_1/run');
    expect(status).toBe(202);
    const again = await platform.call('POST', '/files_1/run');
    expect([again.status, again.body.error.code]).toEqual([409, 'RUN_IN_PROGRESS']);
    await waitFor(() => held.length === 1, { what: 'the order' });
    expect((await platform.call('GET', '/files_1/schedule')).body.data).toMatchObject({
      state: 'active',
      progress: 10,
    });
    held.forEach((response) => json(response, 204));
    const run = await outcome('completed');
    expect(run).toMatchObject({ runId: body.data.runId, trigger: 'manual', attempts: 1, progress: 100 });
    expect((await platform.call('GET', '/files_1/schedule')).body.data.nextRunAt).toBe(before);
    await platform.call('POST', '/files_1/pause');
    expect((await platform.call('POST', '/files_1/run')).body.error.code).toBe('JOB_PAUSED');
  });

  it('shows one run with each attempt and its event, to its organisation alone', async () => {
    endpoint.answer = (asked, response) => {
      json(response, asked.body.attempt === 1 ? 500 : 200);
    };
    await schedule();
    const { runId } = (await platform.call('POST', '/files_1/run')).body.data;
    await outcome('completed');
    const { status, body } = await platform.call('GET', `/files_1/runs/${runId}`);
    expect(status).toBe(200);
    const [first, second, ...others] = body.data.attemptLog;
    expect(others).toEqual([]);
    expect(first).toMatchObject({ number: 1, outcome: 'failed', reason: expect.stringContaining('500') });
    expect(second).toMatchObject({ number: 2, outcome: 'completed', reason: null });
    expect(first.startedAt).toBe(body.data.startedAt);
    expect(Date.parse(first.endedAt)).toBeGreaterThanOrEqual(Date.parse(first.startedAt));
    expect(Date.parse(second.startedAt)).toBeGreaterThanOrEqual(Date.parse(first.endedAt));
    expect(second.endedAt).toBe(body.data.finishedAt);
    expect(body.data).toMatchObject({
      maxAttempts: 4,
      event: { eventId: body.data.eventId, payload: { connector: 'files_1' } },
    });
    // The run is found neither under another connector nor by another organisation.
    await platform.db.query('update runs set org_id = gen_random_uuid() where id = $1', [runId]);
    for (const path of [`/files_1/runs/${runId}`, `/files_2/runs/${runId}`])
      expect((await platform.call('GET', path)).status).toBe(404);
    expect((await platform.call('POST', `/files_1/runs/${runId}/cancel`)).status).toBe(404);
    expect((await platform.call('GET', '/files_1/runs/last')).status).toBe(400);
  });

  it('cancels one run and leaves its schedule active', async () => {
    const held: ServerResponse[] = [];
    endpoint.answer = (_asked, response) => void held.push(response);
    await schedule();
    const { runId } = (await platform.call('POST', '/files_1/run')).body.data;
    await waitFor(() => held.length === 1, { what: 'the order' });
    const { status, body } = await platform.call('POST', `/files_1/runs/${runId}/cancel`);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      outcome: 'aborted',
      reason: 'Cancelled by an administrator',
      attemptLog: [{ number: 1, outcome: 'aborted' }],
      event: null,
    });
    const again = await platform.call('POST', `/files_1/runs/${runId}/cancel`);
    expect([again.status, again.body.error.code]).toEqual([409, 'RUN_ENDED']);
    expect((await platform.call('GET', '/files_1/schedule')).body.data.state).toBe('delayed');
    held.forEach((response) => json(response, 200));
    // A late response of the endpoint publishes no event.
    endpoint.answer = (_asked, response) => {
      json(response, 200);
    };
    await platform.call('POST', '/files_1/run');
    await outcome('completed');
    expect((await platform.call('GET', `/files_1/runs/${runId}`)).body.data.outcome).toBe('aborted');
    const { body: aborted } = await platform.call('GET', '/files_1/runs?outcome=aborted');
    expect(aborted.data[0].runId).toBe(runId);
    expect(aborted.data.every((run: { outcome: string }) => run.outcome === 'aborted')).toBe(true);
  });

  it('a one-off schedule does not run again after its run was cancelled', async () => {
    const held: ServerResponse[] = [];
    endpoint.answer = (_asked, response) => void held.push(response);
    const scheduledTime = () => new Date(Date.now() + 1_000).toISOString();
    await waitFor(
      async () =>
        (await schedule({ scheduleConfig: { scheduleType: 'once', scheduledTime: scheduledTime() } }))
          .status === 201,
      { what: 'a one-off schedule' },
    );
    await waitFor(() => held.length === 1, { what: 'the order', timeoutMs: 15_000 });
    const { runId } = await latest();
    expect((await platform.call('POST', `/files_1/runs/${runId}/cancel`)).status).toBe(200);
    const { rows } = await platform.db.query(
      `select state from schedules where connector = 'files_1' and org_id = $1`,
      [platform.admin.orgId],
    );
    expect(rows).toEqual([{ state: 'finished' }]);
    held.forEach((response) => json(response, 200));
  });

  it('the request to the endpoint names the run and the request that started it, and a retry names the same run', async () => {
    endpoint.answer = (asked, response) => {
      json(response, asked.body.attempt === 1 ? 500 : 200);
    };
    await schedule({ metadata: { folder: 'x' }, priority: 2 });
    await platform.call('POST', '/files_1/run', { headers: { 'x-request-id': 'asked-for-by-hand' } });
    const run = await outcome('completed');
    expect(run.attempts).toBe(2);
    const [first, second] = endpoint.asked;
    expect(first?.body).toMatchObject({
      runId: run.runId, attempt: 1, connector: 'files_1', orgId: platform.admin.orgId, metadata: { folder: 'x' },
      priority: 2,
    }); // prettier-ignore
    const keys = [first, second].map((asked) => asked?.headers['idempotency-key']);
    expect(keys).toEqual([`${run.runId}-1`, `${run.runId}-2`]);
    for (const asked of [first, second]) expect(asked?.headers['x-request-id']).toBe('asked-for-by-hand');
    const findLines = () => {
      const lines = platform.crawl.logged().split('\n');
      return lines.filter((line) => line.includes(run.runId) && line.includes('run settled'));
    };
    // The log arrives through a pipe, later than the outcome.
    await waitFor(() => findLines().length === 2, { what: 'a line for each attempt' });
    for (const line of findLines())
      expect(JSON.parse(line)).toMatchObject({ requestId: 'asked-for-by-hand' });
  });

  it('a task that keeps failing is attempted 1 + maxRetries times and publishes no event', async () => {
    const before = await getEvents();
    const { failed } = (await platform.call('GET', '/stats')).body.data;
    endpoint.answer = (_asked, response) => {
      json(response, 500);
    };
    await schedule({ maxRetries: 2 });
    await platform.call('POST', '/files_1/run');
    const run = await outcome('failed');
    expect(run).toMatchObject({ attempts: 3, reason: 'The endpoint answered 500', eventId: null });
    expect(endpoint.asked).toHaveLength(3);
    expect(await getEvents()).toBe(before);
    expect((await platform.call('GET', '/stats')).body.data.failed).toBe(failed + 1);
  });

  it('with maxRetries 0 there is one attempt', async () => {
    endpoint.answer = (_asked, response) => {
      json(response, 400);
    };
    await schedule({ maxRetries: 0 });
    await platform.call('POST', '/files_1/run');
    expect(await outcome('failed')).toMatchObject({ attempts: 1 });
  });

  it('a request to an endpoint that hangs ends at the timeout', async () => {
    endpoint.answer = () => undefined;
    await schedule({ timeout: 1_000, maxRetries: 0 });
    await platform.call('POST', '/files_1/run');
    expect(await outcome('failed')).toMatchObject({ reason: 'Timed out after 1000 ms' });
  });

  it('a task is polled, its progress is shown, and it is cancelled when the run is paused', async () => {
    let progress = 0;
    endpoint.answer = (asked, response) => {
      if (asked.method === 'POST') json(response, 202, {}, { location: '/tasks/7', 'retry-after': '0' });
      else json(response, 200, { state: 'running', progress });
    };
    await schedule();
    await platform.call('POST', '/files_1/run');
    const shown = async () => (await platform.call('GET', '/files_1/schedule')).body.data.progress as number;
    await waitFor(async () => (await shown()) === 20, { what: '20 when the task is accepted' });
    progress = 50;
    await waitFor(async () => (await shown()) === 60, { what: 'progress' });
    expect((await platform.call('POST', '/files_1/pause')).status).toBe(200);
    await waitFor(
      () => endpoint.asked.some(({ method, path }) => method === 'DELETE' && path === '/tasks/7'),
      {
        what: 'the cancellation',
      },
    );
    expect(await latest()).toMatchObject({
      outcome: 'aborted',
      reason: 'The schedule was paused',
      eventId: null,
    });
  });

  it('removing a schedule aborts its run in progress, which publishes no event', async () => {
    const before = await getEvents();
    const held: ServerResponse[] = [];
    endpoint.answer = (_asked, response) => void held.push(response);
    await schedule();
    await platform.call('POST', '/files_1/run');
    await waitFor(() => held.length === 1, { what: 'the order' });
    await platform.call('DELETE', '/files_1/schedule');
    held.forEach((response) => json(response, 200));
    await outcome('aborted');
    expect(await getEvents()).toBe(before);
    expect((await platform.call('GET', '/stats')).body.data.active).toBe(0);
  });

  it.each([
    [
      'says 202 and nowhere to look',
      { status: 202, location: undefined, state: undefined },
      '202 without a Location',
    ],
    [
      'sends us elsewhere',
      { status: 202, location: 'http://169.254.169.254/latest', state: undefined },
      'another origin',
    ],
    [
      'redirects',
      { status: 302, location: 'http://169.254.169.254/latest', state: undefined },
      'answered 302',
    ],
    ['is done and not done', { status: 202, location: '/t', state: 'perhaps' }, 'did not say whether'],
    ['fails in its own words', { status: 202, location: '/t', state: 'failed' }, 'The source is locked'],
  ])('an endpoint that %s fails the run', async (_title, { status, location, state }, reason) => {
    endpoint.answer = (asked, response) => {
      const headers = { ...(location === undefined ? {} : { location }), 'retry-after': '0' };
      if (asked.method === 'POST') json(response, status, {}, headers);
      else json(response, 200, { state, progress: 1e9, reason: 'The source is locked\u0000\ud800' }, headers);
    };
    await schedule({ maxRetries: 0 });
    await platform.call('POST', '/files_1/run');
    expect((await outcome('failed')).reason).toContain(reason);
  });

  it('a response that never ends is cut off', async () => {
    endpoint.answer = (_asked, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const talk = () => {
        while (!response.destroyed && response.write('x'.repeat(16_384)));
        if (!response.destroyed) response.once('drain', talk);
      };
      talk();
    };
    await schedule({ maxRetries: 0 });
    await platform.call('POST', '/files_1/run');
    expect((await outcome('failed')).reason).toContain('more than 65536 bytes');
  });

  it('a one-off schedule that becomes due during another run waits and runs after it', async () => {
    const held: ServerResponse[] = [];
    endpoint.answer = (_asked, response) => void held.push(response);
    const scheduledTime = new Date(Date.now() + 700).toISOString();
    await schedule({ scheduleConfig: { scheduleType: 'once', scheduledTime } });
    const { body } = await platform.call('POST', '/files_1/run');
    await waitFor(() => held.length === 1, { what: 'the order' });
    await waitFor(async () => platform.crawl.logged().includes('waits for the run before it'), {
      what: 'the job that waits',
    });
    expect(await latest()).toMatchObject({ runId: body.data.runId, outcome: 'active' });
    json(held[0] as ServerResponse, 200);
    await waitFor(() => held.length === 2, { what: 'its own order', timeoutMs: 15_000 });
    json(held[1] as ServerResponse, 200);
    await outcome('completed');
    const { body: runs } = await platform.call('GET', '/files_1/runs?limit=2');
    expect(runs.data).toMatchObject([
      { trigger: 'schedule', scheduledFor: scheduledTime, outcome: 'completed', attempts: 1 },
      { trigger: 'manual', outcome: 'completed' },
    ]);
  });

  it('the history is paged, newest first, and agrees with the counts of /stats', async () => {
    await schedule({}, 'chat_1');
    const before = (await platform.call('GET', '/stats')).body.data.completed as number;
    for (let count = 1; count <= 5; count += 1) {
      await waitFor(async () => (await platform.call('POST', '/chat_1/run')).status === 202, {
        what: 'a free place',
      });
      await waitFor(
        async () => (await platform.call('GET', '/stats')).body.data.completed === before + count,
        { what: 'the run' },
      );
    }
    const { body } = await platform.call('GET', '/chat_1/runs?page=2&limit=2');
    expect(body.pagination).toEqual({ page: 2, limit: 2, total: 5, totalPages: 3 });
    expect(body.data).toHaveLength(2);
    expect(Date.parse(body.data[0].startedAt)).toBeGreaterThanOrEqual(Date.parse(body.data[1].startedAt));
    const found: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await platform.call(
        'GET',
        `/chat_1/runs?limit=2&outcome=completed${cursor && `&cursor=${cursor}`}`,
      );
      found.push(...page.body.data.map(({ runId }: { runId: string }) => runId));
      cursor = page.body.nextCursor as string | null;
    }
    const { body: all } = await platform.call('GET', '/chat_1/runs');
    expect(found).toEqual(all.data.map(({ runId }: { runId: string }) => runId));
    expect([found.length, all.nextCursor]).toEqual([5, null]);
    expect(await getEvents('chat_1')).toBe(5);
  });
});
