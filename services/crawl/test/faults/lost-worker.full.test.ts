import { waitFor } from '@platform/testing';
import { createCrawls } from '../support/crawls.js';
import { type Endpoint, json, startEndpoint } from '../support/endpoint.js';
import { describeEachBackend, type Platform, startPlatform } from '../support/platform.js';

describeEachBackend('a worker that has lost its run on %s', (backend) => {
  let platform: Platform;
  let endpoint: Endpoint;
  const crawls = createCrawls(() => platform);
  beforeAll(async () => {
    endpoint = await startEndpoint();
    platform = await startPlatform({
      backend,
      env: { TASKS: `files_1=${endpoint.url}`, ROLE: 'api' },
    });
  });
  afterAll(async () => {
    await platform.close();
    await endpoint.close();
  });

  it('does not cancel the task that the next worker follows, and the run completes once', async () => {
    let state = 'running';
    endpoint.answer = ({ method }, response) => {
      const headers = { location: '/tasks/7', 'retry-after': '0' };
      if (method === 'POST') json(response, 202, {}, headers);
      else json(response, 200, { state, progress: 50 }, headers);
    };
    const asked = (method: string) => endpoint.asked.filter((request) => request.method === method);
    const first = await platform.addCrawl({ ROLE: 'worker' });
    await crawls.schedule('files_1');
    const runId = await crawls.run('files_1');
    await waitFor(() => asked('GET').length > 0, { what: 'polls of the first worker' });

    first.signal('SIGSTOP');
    const second = await platform.addCrawl({ ROLE: 'worker' });
    await waitFor(() => asked('POST').length === 2, { what: 'the request of the second worker' });
    const [order, again] = asked('POST');
    expect([again?.text, again?.headers['idempotency-key']]).toEqual([order?.text, `${runId}-1`]);

    first.signal('SIGCONT');
    await waitFor(() => first.logged().includes('"outcome":"void"'), {
      what: 'the loss of the run',
    });
    // The first worker would have cancelled the task before the second one polls it again.
    const questions = asked('GET').length;
    await waitFor(() => asked('GET').length > questions + 5, { what: 'further polls' });
    expect(asked('DELETE')).toEqual([]);

    state = 'completed';
    expect(await crawls.outcome('files_1', 'completed')).toMatchObject({ runId, attempts: 1 });
    await crawls.expectWhole();
    expect(asked('POST')).toHaveLength(2);
    expect(asked('DELETE')).toEqual([]);
    await first.stop();
    await second.stop();
  });

  it('has its task cancelled by another worker when the run is paused before it is claimed again', async () => {
    endpoint.asked.length = 0;
    endpoint.answer = ({ method }, response) => {
      const headers = { location: '/tasks/8', 'retry-after': '0' };
      if (method === 'POST') json(response, 202, {}, headers);
      else json(response, 200, { state: 'running', progress: 50 }, headers);
    };
    const asked = (method: string) => endpoint.asked.filter((request) => request.method === method);
    const worker = await platform.addCrawl({ ROLE: 'worker' });
    await crawls.schedule('files_1');
    await crawls.run('files_1');
    const isLocated = async () =>
      (await platform.db.query(`select from runs where state = 'active' and task_location is not null`))
        .rowCount === 1;
    await waitFor(isLocated, { what: 'the location of the task' });
    worker.signal('SIGKILL');
    expect((await platform.call('POST', '/files_1/pause')).status).toBe(200);
    expect(asked('DELETE')).toEqual([]);
    await platform.addCrawl({ ROLE: 'worker' });
    await waitFor(() => asked('DELETE').length > 0, { what: 'the cancellation' });
    expect(asked('DELETE').map(({ path }) => path)).toEqual(['/tasks/8']);
  });
});
