import { startStopwatch, waitFor } from '@platform/testing';
import { followTask } from '../support/endpoint.js';
import { toKeys, useEndpointRuns } from '../support/endpoint-runs.js';
import { type Backend, describeEachBackend } from '../support/platform.js';

/** Gives the tests a platform whose API has no worker, so that each test adds the workers that it kills or stops. */
function useWorkers(backend: Backend) {
  const runs = useEndpointRuns(backend, { env: { ROLE: 'api' } });
  const addWorker = () => runs.platform.addCrawl({ ROLE: 'worker' });
  const addVictim = () => runs.platform.addProcess({ ROLE: 'worker' });
  return { runs, addWorker, addVictim };
}

describeEachBackend('a run in progress on %s', (backend) => {
  const { runs, addWorker, addVictim } = useWorkers(backend);
  const { crawls, getPosts } = runs;

  it('is continued by another worker when its own is killed or shuts down, and publishes one event', async () => {
    const victim = await addVictim();
    const runId = await runs.startHeldRun();
    await victim.kill();
    runs.endpoint.held.length = 0;

    const second = await addWorker();
    await waitFor(() => runs.endpoint.held[0], { what: 'the order of the second worker' });
    const third = await addWorker();
    const stopwatch = startStopwatch();
    await second.stop();
    // It hands the run back at once.
    expect(stopwatch.stop()).toBeLessThan(5_000);

    await waitFor(() => getPosts().length === 3, { what: 'the order of the third worker' });
    runs.endpoint.release();
    expect(await crawls.outcome('files_1', 'completed')).toMatchObject({ runId, attempts: 1 });
    const [order, ...again] = getPosts();
    expect(order?.body.runId).toBe(runId);
    expect(again.map(({ text }) => text)).toEqual([order?.text, order?.text]);
    expect(toKeys(getPosts())).toEqual(new Set([`${runId}-1`]));
    expect(await runs.countEvents(runId)).toBe(1);
    await third.stop();
  });

  it('ends without an event when the replica that has paused its schedule is killed after the commit', async () => {
    const victim = await runs.platform.addProcess({ ROLE: 'all' });
    const runId = await runs.startHeldRun();
    const headers = { authorization: `Bearer ${runs.platform.admin.token}` };
    const url = `${victim.url}/api/v1/crawlingManager/files_1/pause`;
    const pausing = fetch(url, { method: 'POST', headers }).catch(() => undefined);
    const isPaused = async () =>
      (await runs.platform.db.query(`select from schedules where state = 'paused'`)).rowCount === 1;
    await waitFor(isPaused, { what: 'the commit' });
    await victim.kill();
    await pausing;

    const worker = await addWorker();
    runs.endpoint.reply(200);
    expect((await runs.item()).state).toBe('paused');
    const [run] = await crawls.runs('files_1');
    expect(run).toMatchObject({ runId, outcome: 'aborted', eventId: null });
    expect((await runs.platform.call('POST', '/files_1/resume')).status).toBe(200);
    const next = await crawls.run('files_1');
    await crawls.outcome('files_1', 'completed');
    // The job of the aborted run, which is before that of the next one, has posted nothing.
    expect(toKeys(getPosts())).toEqual(new Set([`${runId}-1`, `${next}-1`]));
    await crawls.expectWhole();
    await worker.stop();
  });
});

describe('a worker', () => {
  const { runs, addWorker, addVictim } = useWorkers('postgres');
  const { crawls, schedule, getPosts, getCancellations } = runs;

  it('that has lost its run while it hung does not cancel the task that the next worker follows', async () => {
    let state = 'running';
    runs.endpoint.answer = followTask(() => ({ state, progress: 50 }));
    const getPolls = () => runs.endpoint.asked.filter(({ method }) => method === 'GET').length;
    const first = await addVictim();
    await schedule();
    const runId = await crawls.run('files_1');
    await waitFor(() => getPolls() > 0, { what: 'polls of the first worker' });

    first.signal('SIGSTOP');
    const second = await addWorker();
    await waitFor(() => getPosts().length === 2, { what: 'the order of the second worker' });
    const [order, again] = getPosts();
    expect([again?.text, again?.headers['idempotency-key']]).toEqual([order?.text, `${runId}-1`]);

    first.signal('SIGCONT');
    await waitFor(() => first.logged().includes('"outcome":"void"'), { what: 'the loss of the run' });
    // The first worker would have cancelled the task before the second one polls it again.
    const polls = getPolls();
    await waitFor(() => getPolls() > polls + 5, { what: 'further polls' });
    state = 'completed';
    expect(await crawls.outcome('files_1', 'completed')).toMatchObject({ runId, attempts: 1 });
    await crawls.expectWhole();
    expect(getPosts()).toHaveLength(2);
    expect(getCancellations()).toEqual([]);
    await Promise.all([first.stop(), second.stop()]);
  });

  it('that is killed has its task cancelled by another one when the run is paused before it is claimed again', async () => {
    runs.endpoint.answer = followTask(() => ({ state: 'running' }));
    const victim = await addVictim();
    await schedule();
    await crawls.run('files_1');
    const isLocated = async () =>
      (await runs.platform.db.query(`select from runs where state = 'active' and task_location is not null`))
        .rowCount === 1;
    await waitFor(isLocated, { what: 'the location of the task' });
    await victim.kill();
    expect((await runs.platform.call('POST', '/files_1/pause')).status).toBe(200);
    expect(getCancellations()).toEqual([]);
    const next = await addWorker();
    await waitFor(() => getCancellations().length > 0, { what: 'the cancellation' });
    expect(getCancellations().map(({ path }) => path)).toEqual(['/tasks/7']);
    await next.stop();
  });

  it('that is killed while its endpoint is unavailable costs the run no attempt', async () => {
    await runs.endpoint.stop();
    const victim = await addVictim();
    await schedule();
    const runId = await crawls.run('files_1');
    await crawls.outcome('files_1', 'retrying');
    await victim.kill();
    const next = await addWorker();
    await runs.endpoint.start();
    expect(await crawls.outcome('files_1', 'completed')).toMatchObject({ runId, attempts: 1 });
    expect(toKeys(getPosts())).toEqual(new Set([`${runId}-1`]));
    await next.stop();
  });
});
