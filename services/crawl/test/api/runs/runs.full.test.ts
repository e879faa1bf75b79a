import type { ServerResponse } from 'node:http';
import { waitFor } from '@platform/testing';
import { json } from '../../support/endpoint.js';
import { useEndpointRuns } from '../../support/endpoint-runs.js';
import { describeEachBackend } from '../../support/platform.js';

describeEachBackend('runs on %s', (backend) => {
  const runs = useEndpointRuns(backend);
  const { crawls } = runs;
  const schedule = (body: object = {}) => runs.schedule({ maxRetries: 3, ...body });
  const latest = async () => (await crawls.runs('files_1'))[0];
  const outcome = (wanted: string) => crawls.outcome('files_1', wanted);
  const countEvents = async () => [...(await crawls.eventsByKey()).values()].flat().length;

  it('a requested run leaves the schedule as it is, and only one runs at a time', async () => {
    const held: ServerResponse[] = [];
    runs.endpoint.answer = (_asked, response) => void held.push(response);
    expect((await runs.platform.call('POST', '/files_1/run')).status).toBe(404);
    await schedule();
    const before = (await runs.platform.call('GET', '/files_1/schedule')).body.data.nextRunAt;
    const { status, body } = await runs.platform.call('POST', '/files_1/run');
    expect(status).toBe(202);
    const again = await runs.platform.call('POST', '/files_1/run');
    expect([again.status, again.body.error.code]).toEqual([409, 'RUN_IN_PROGRESS']);
    await waitFor(() => held.length === 1, { what: 'the order' });
    expect((await runs.platform.call('GET', '/files_1/schedule')).body.data).toMatchObject({
      state: 'active',
      progress: 10,
    });
    held.forEach((response) => json(response, 204));
    const run = await outcome('completed');
    expect(run).toMatchObject({ runId: body.data.runId, trigger: 'manual', attempts: 1, progress: 100 });
    expect((await runs.platform.call('GET', '/files_1/schedule')).body.data.nextRunAt).toBe(before);
    await runs.platform.call('POST', '/files_1/pause');
    expect((await runs.platform.call('POST', '/files_1/run')).body.error.code).toBe('JOB_PAUSED');
  });

  it('shows one run with each attempt and its event, to its organisation alone', async () => {
    runs.endpoint.answer = (asked, response) => {
      json(response, asked.body.attempt === 1 ? 500 : 200);
    };
    await schedule();
    const { runId } = (await runs.platform.call('POST', '/files_1/run')).body.data;
    await outcome('completed');
    const { status, body } = await runs.platform.call('GET', `/files_1/runs/${runId}`);
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
    await runs.platform.db.query('update runs set org_id = gen_random_uuid() where id = $1', [runId]);
    for (const path of [`/files_1/runs/${runId}`, `/files_2/runs/${runId}`])
      expect((await runs.platform.call('GET', path)).status).toBe(404);
    expect((await runs.platform.call('POST', `/files_1/runs/${runId}/cancel`)).status).toBe(404);
    expect((await runs.platform.call('GET', '/files_1/runs/last')).status).toBe(400);
  });

  it('cancels one run and leaves its schedule active', async () => {
    const held: ServerResponse[] = [];
    runs.endpoint.answer = (_asked, response) => void held.push(response);
    await schedule();
    const { runId } = (await runs.platform.call('POST', '/files_1/run')).body.data;
    await waitFor(() => held.length === 1, { what: 'the order' });
    const { status, body } = await runs.platform.call('POST', `/files_1/runs/${runId}/cancel`);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      outcome: 'aborted',
      reason: 'Cancelled by an administrator',
      attemptLog: [{ number: 1, outcome: 'aborted' }],
      event: null,
    });
    const again = await runs.platform.call('POST', `/files_1/runs/${runId}/cancel`);
    expect([again.status, again.body.error.code]).toEqual([409, 'RUN_ENDED']);
    expect((await runs.platform.call('GET', '/files_1/schedule')).body.data.state).toBe('delayed');
    held.forEach((response) => json(response, 200));
    // A late response of the endpoint publishes no event.
    runs.endpoint.answer = (_asked, response) => {
      json(response, 200);
    };
    await runs.platform.call('POST', '/files_1/run');
    await outcome('completed');
    expect((await runs.platform.call('GET', `/files_1/runs/${runId}`)).body.data.outcome).toBe('aborted');
    const { body: aborted } = await runs.platform.call('GET', '/files_1/runs?outcome=aborted');
    expect(aborted.data[0].runId).toBe(runId);
    const search = async (q: string) => {
      const { body: page } = await runs.platform.call(
        'GET',
        `/files_1/runs?${new URLSearchParams({ q }).toString()}`,
      );
      return page.data.map((run: { runId: string }) => run.runId) as string[];
    };
    expect(await search('CANCELLED by')).toEqual(aborted.data.map((run: { runId: string }) => run.runId));
    expect(await search(runId)).toEqual([runId]);
    expect(await search('100%_')).toEqual([]);
    expect(aborted.data.every((run: { outcome: string }) => run.outcome === 'aborted')).toBe(true);
  });

  it('a one-off schedule does not run again after its run was cancelled', async () => {
    const held: ServerResponse[] = [];
    runs.endpoint.answer = (_asked, response) => void held.push(response);
    const scheduledTime = () => new Date(Date.now() + 1_000).toISOString();
    await waitFor(
      async () =>
        (await schedule({ scheduleConfig: { scheduleType: 'once', scheduledTime: scheduledTime() } }))
          .status === 201,
      { what: 'a one-off schedule' },
    );
    await waitFor(() => held.length === 1, { what: 'the order' });
    const { runId } = await latest();
    expect((await runs.platform.call('POST', `/files_1/runs/${runId}/cancel`)).status).toBe(200);
    const { rows } = await runs.platform.db.query(
      `select state from schedules where connector = 'files_1' and org_id = $1`,
      [runs.platform.admin.orgId],
    );
    expect(rows).toEqual([{ state: 'finished' }]);
    held.forEach((response) => json(response, 200));
  });

  it('the request to the endpoint names the run and the request that started it, and a retry names the same run', async () => {
    runs.endpoint.answer = (asked, response) => {
      json(response, asked.body.attempt === 1 ? 500 : 200);
    };
    await schedule({ metadata: { folder: 'x' }, priority: 2 });
    await runs.platform.call('POST', '/files_1/run', { headers: { 'x-request-id': 'asked-for-by-hand' } });
    const run = await outcome('completed');
    expect(run.attempts).toBe(2);
    const [first, second] = runs.endpoint.asked;
    // prettier-ignore
    expect(first?.body).toMatchObject({
      runId: run.runId, attempt: 1, connector: 'files_1', orgId: runs.platform.admin.orgId, metadata: { folder: 'x' },
      priority: 2,
    });
    const keys = [first, second].map((asked) => asked?.headers['idempotency-key']);
    expect(keys).toEqual([`${run.runId}-1`, `${run.runId}-2`]);
    for (const asked of [first, second]) expect(asked?.headers['x-request-id']).toBe('asked-for-by-hand');
    const findLines = () => {
      const lines = runs.platform.crawl.logged().split('\n');
      return lines.filter((line) => line.includes(run.runId) && line.includes('run settled'));
    };
    // The log arrives through a pipe, later than the outcome.
    await waitFor(() => findLines().length === 2, { what: 'a line for each attempt' });
    for (const line of findLines())
      expect(JSON.parse(line)).toMatchObject({ requestId: 'asked-for-by-hand' });
  });

  it('a task is polled, its progress is shown, and it is cancelled when the run is paused', async () => {
    let progress = 0;
    runs.endpoint.answer = (asked, response) => {
      if (asked.method === 'POST') json(response, 202, {}, { location: '/tasks/7', 'retry-after': '0' });
      else json(response, 200, { state: 'running', progress });
    };
    await schedule();
    await runs.platform.call('POST', '/files_1/run');
    const shown = async () =>
      (await runs.platform.call('GET', '/files_1/schedule')).body.data.progress as number;
    await waitFor(async () => (await shown()) === 20, { what: '20 when the task is accepted' });
    progress = 50;
    await waitFor(async () => (await shown()) === 50, { what: 'progress' });
    expect((await runs.platform.call('POST', '/files_1/pause')).status).toBe(200);
    await waitFor(
      () => runs.endpoint.asked.some(({ method, path }) => method === 'DELETE' && path === '/tasks/7'),
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
    const before = await countEvents();
    const held: ServerResponse[] = [];
    runs.endpoint.answer = (_asked, response) => void held.push(response);
    await schedule();
    await runs.platform.call('POST', '/files_1/run');
    await waitFor(() => held.length === 1, { what: 'the order' });
    await runs.platform.call('DELETE', '/files_1/schedule');
    held.forEach((response) => json(response, 200));
    await outcome('aborted');
    expect(await countEvents()).toBe(before);
    expect((await runs.platform.call('GET', '/stats')).body.data.active).toBe(0);
  });

  it('a one-off schedule that becomes due during another run waits and runs after it', async () => {
    const held: ServerResponse[] = [];
    runs.endpoint.answer = (_asked, response) => void held.push(response);
    await schedule();
    const { body } = await runs.platform.call('POST', '/files_1/run');
    await waitFor(() => held.length === 1, { what: 'the order' });
    let scheduledTime = '';
    await crawls.schedule('files_1', () => {
      scheduledTime = new Date(Date.now() + 500).toISOString();
      return { scheduleType: 'once', scheduledTime };
    });
    // The dispatcher has passed it by.
    await waitFor(() => Date.now() > Date.parse(scheduledTime) + 1_500, { what: 'its time' });
    expect(await latest()).toMatchObject({ runId: body.data.runId, outcome: 'active' });
    json(held[0] as ServerResponse, 200);
    await waitFor(() => held.length === 2, { what: 'its own order' });
    json(held[1] as ServerResponse, 200);
    await outcome('completed');
    const { body: history } = await runs.platform.call('GET', '/files_1/runs?limit=2');
    expect(history.data).toMatchObject([
      { trigger: 'schedule', scheduledFor: scheduledTime, outcome: 'completed', attempts: 1 },
      { trigger: 'manual', outcome: 'completed' },
    ]);
  });

  it('the history is paged, newest first, and agrees with the counts of /stats', async () => {
    await crawls.schedule('chat_1');
    const eventsBefore = await countEvents();
    const before = (await runs.platform.call('GET', '/stats')).body.data.completed as number;
    for (let count = 1; count <= 5; count += 1) {
      await crawls.run('chat_1');
      await waitFor(
        async () => (await runs.platform.call('GET', '/stats')).body.data.completed === before + count,
        { what: 'the run' },
      );
    }
    const { body } = await runs.platform.call('GET', '/chat_1/runs?page=2&limit=2');
    expect(body.pagination).toEqual({ page: 2, limit: 2, total: 5, totalPages: 3 });
    expect(body.data).toHaveLength(2);
    expect(Date.parse(body.data[0].startedAt)).toBeGreaterThanOrEqual(Date.parse(body.data[1].startedAt));
    const found: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await runs.platform.call(
        'GET',
        `/chat_1/runs?limit=2&outcome=completed${cursor && `&cursor=${cursor}`}`,
      );
      found.push(...page.body.data.map(({ runId }: { runId: string }) => runId));
      cursor = page.body.nextCursor as string | null;
    }
    const { body: all } = await runs.platform.call('GET', '/chat_1/runs');
    expect(found).toEqual(all.data.map(({ runId }: { runId: string }) => runId));
    expect([found.length, all.nextCursor]).toEqual([5, null]);
    expect(await countEvents()).toBe(eventsBefore + 5);
  });
});
