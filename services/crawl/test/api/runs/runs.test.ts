import { waitFor } from '@platform/testing';
import { followTask, json } from '../../support/endpoint.js';
import { useEndpointRuns } from '../../support/endpoint-runs.js';

describe('runs', () => {
  const runs = useEndpointRuns('postgres');
  const { crawls, schedule, item, startHeldRun } = runs;
  const call = (method: string, path: string) => runs.platform.call(method, path);
  const outcome = (wanted: string) => crawls.outcome('files_1', wanted);
  const toIds = (list: readonly { runId: string }[]) => list.map(({ runId }) => runId);

  it('are requested one at a time, and leave the schedule as it is', async () => {
    expect((await call('POST', '/files_1/run')).status).toBe(404);
    await schedule();
    const { nextRunAt } = await item();
    const runId = await startHeldRun();
    const again = await call('POST', '/files_1/run');
    expect([again.status, again.body.error.code]).toEqual([409, 'RUN_IN_PROGRESS']);
    expect(await item()).toMatchObject({ state: 'active', progress: 10 });
    runs.endpoint.release(204);
    const run = await outcome('completed');
    expect(run).toMatchObject({ runId, trigger: 'manual', attempts: 1, progress: 100 });
    expect((await item()).nextRunAt).toBe(nextRunAt);
    await call('POST', '/files_1/pause');
    expect((await call('POST', '/files_1/run')).body.error.code).toBe('JOB_PAUSED');
  });

  it('are shown with each attempt and their event, to their organisation alone', async () => {
    runs.endpoint.answer = (asked, response) => json(response, asked.body.attempt === 1 ? 500 : 200);
    await schedule({ maxRetries: 3 });
    const runId = await crawls.run('files_1');
    await outcome('completed');
    const { status, body } = await call('GET', `/files_1/runs/${runId}`);
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
    // CRAWL-72
    const byId = await call('GET', `/runs/${runId}`);
    expect(byId.body.data).toMatchObject({ runId, connector: 'files_1', outcome: 'completed' });
    await runs.platform.db.query('update runs set org_id = gen_random_uuid() where id = $1', [runId]);
    expect((await call('GET', `/runs/${runId}`)).status).toBe(404);
    for (const path of [`/files_1/runs/${runId}`, `/files_2/runs/${runId}`])
      expect((await call('GET', path)).status).toBe(404);
    expect((await call('POST', `/files_1/runs/${runId}/cancel`)).status).toBe(404);
  });

  it('are cancelled one by one, stay so when their endpoint responds late, and are found by their reason and id', async () => {
    const runId = await startHeldRun();
    const { status, body } = await call('POST', `/files_1/runs/${runId}/cancel`);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      outcome: 'aborted',
      reason: 'Cancelled by an administrator',
      attemptLog: [{ number: 1, outcome: 'aborted' }],
      event: null,
    });
    const again = await call('POST', `/files_1/runs/${runId}/cancel`);
    expect([again.status, again.body.error.code]).toEqual([409, 'RUN_ENDED']);
    expect((await item()).state).toBe('delayed');
    runs.endpoint.release();
    runs.endpoint.reply(200);
    await crawls.run('files_1');
    await outcome('completed');
    expect((await call('GET', `/files_1/runs/${runId}`)).body.data.outcome).toBe('aborted');
    const find = async (query: Record<string, string>) =>
      toIds((await call('GET', `/files_1/runs?${new URLSearchParams(query).toString()}`)).body.data);
    expect(await find({ outcome: 'aborted' })).toEqual([runId]);
    expect(await find({ q: 'CANCELLED by' })).toEqual([runId]);
    expect(await find({ q: runId })).toEqual([runId]);
    expect(await find({ q: '100%_' })).toEqual([]);
  });

  it('show the progress of their task (CRAWL-29), which is cancelled when the schedule is paused', async () => {
    let progress = 0;
    runs.endpoint.answer = followTask(() => ({ state: 'running', progress }));
    await schedule();
    await crawls.run('files_1');
    await waitFor(async () => (await item()).progress === 20, { what: '20 when the task is accepted' });
    progress = 50;
    await waitFor(async () => (await item()).progress === 50, { what: 'progress' });
    expect((await call('POST', '/files_1/pause')).status).toBe(200);
    await waitFor(() => runs.getCancellations().length > 0, { what: 'the cancellation' });
    expect(runs.getCancellations().map(({ path }) => path)).toEqual(['/tasks/7']);
    const [run] = await crawls.runs('files_1');
    expect(run).toMatchObject({ outcome: 'aborted', reason: 'The schedule was paused', eventId: null });
  });

  it('are listed page by page, newest first, and agree with the counts of /stats', async () => {
    await crawls.schedule('chat_1');
    const before = (await call('GET', '/stats')).body.data.completed as number;
    const made: string[] = [];
    for (let count = 1; count <= 5; count += 1) {
      made.unshift(await crawls.run('chat_1'));
      await crawls.outcome('chat_1', 'completed');
    }
    expect((await call('GET', '/stats')).body.data.completed).toBe(before + 5);
    const { body } = await call('GET', '/chat_1/runs?page=2&limit=2');
    expect(body.pagination).toEqual({ page: 2, limit: 2, total: 5, totalPages: 3 });
    expect(toIds(body.data)).toEqual(made.slice(2, 4));
    const found: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const query = `limit=2&outcome=completed${cursor && `&cursor=${cursor}`}`;
      const page = await call('GET', `/chat_1/runs?${query}`);
      found.push(...toIds(page.body.data));
      cursor = page.body.nextCursor as string | null;
    }
    expect(found).toEqual(made);
  });
});
