import type { ServerResponse } from 'node:http';
import { connectors } from '@platform/events';
import { waitFor } from '@platform/testing';
import { isPending } from '../support/queue-view.js';
import { createCrawls, daily } from '../support/crawls.js';
import { type Endpoint, json, startEndpoint } from '../support/endpoint.js';
import { describeEachBackend, type Platform, startPlatform } from '../support/platform.js';

describeEachBackend('pausing during faults on %s', (backend) => {
  let platform: Platform;
  let endpoint: Endpoint;
  let held: Map<string, ServerResponse>;
  const crawls = createCrawls(() => platform);
  beforeAll(async () => {
    endpoint = await startEndpoint();
    const env = { TASKS: `*=${endpoint.url}` };
    platform = await startPlatform({ backend, env });
  });
  afterAll(async () => {
    await platform.close();
    await endpoint.close();
  });
  beforeEach(() => {
    held = new Map();
    endpoint.asked.length = 0;
    endpoint.answer = ({ body }, response) => void held.set(body.connector, response);
  });
  afterEach(() => platform.call('DELETE', '/schedule/all'));

  const post = (path: string) => platform.call('POST', path);
  const getState = async (connector: string) =>
    (
      await platform.db.query<{ state: string }>('select state from schedules where connector = $1', [
        connector,
      ])
    ).rows[0]?.state;

  /** Makes the queue hang: it accepts commands and doesn't respond. Returns the function that releases it. */
  async function holdQueue(): Promise<() => unknown> {
    if (platform.redis) {
      platform.redis.pause();
      return () => platform.redis?.resume();
    }
    const client = await platform.db.connect();
    await client.query('begin; lock table bullmq.scheduler in access exclusive mode');
    return () => client.query('rollback').then(() => client.release());
  }

  it('another replica changes the queue when one is killed between its commit and the change', async () => {
    await crawls.schedule('files_1');
    await crawls.schedule('mail_1');
    await crawls.schedule('wiki_1');
    await crawls.expectWhole();
    const release = await holdQueue();
    const body = { scheduleConfig: { ...daily, hour: 9 } };
    const answers = [
      await platform.call('POST', '/files_1/schedule', { body }),
      await post('/mail_1/pause'),
      await platform.call('DELETE', '/wiki_1/schedule'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 200]);
    await platform.crawl.kill();
    await release();
    await platform.addCrawl({}, true);
    await crawls.expectWhole();
    expect((await platform.db.query('select from schedules')).rowCount).toBe(2);
    const { data } = (await platform.call('GET', '/files_1/schedule')).body;
    expect([data.state, data.data.scheduleConfig.hour]).toEqual(['delayed', 9]);
  });

  it('a pause is committed and aborts the run although the queue hangs', async () => {
    await crawls.schedule('mail_1');
    const runId = await crawls.run('mail_1');
    await waitFor(() => held.size === 1, { what: 'the request' });
    const release = await holdQueue();
    const { status } = await post('/mail_1/pause');
    await release();
    expect([status, await getState('mail_1')]).toEqual([200, 'paused']);
    expect(await crawls.outcome('mail_1', 'aborted')).toMatchObject({ runId });
    await crawls.expectWhole();
  });

  it('a pause whose replica is killed after the commit is kept, and its run ends without an event', async () => {
    await crawls.schedule('files_1');
    const runId = await crawls.run('files_1');
    await waitFor(() => held.size === 1, { what: 'the request' });
    const pausing = post('/files_1/pause').catch(() => undefined);
    await waitFor(async () => (await getState('files_1')) === 'paused', { what: 'the commit' });
    await platform.crawl.kill();
    await pausing;
    await platform.addCrawl({}, true);
    held.forEach((response) => json(response, 200));
    await waitFor(async () => !isPending(await platform.queues.jobState('files_1', `run-${runId}-0`)), {
      what: "the end of the run's job",
    });
    expect((await platform.call('GET', '/files_1/schedule')).body.data).toMatchObject({ state: 'paused' });
    expect(await crawls.runs('files_1')).toMatchObject([{ runId, outcome: 'aborted', eventId: null }]);
    expect(endpoint.asked.filter(({ method }) => method === 'POST')).toHaveLength(1);
    await crawls.expectWhole();
    expect((await post('/files_1/resume')).status).toBe(200);
    endpoint.answer = (_asked, response) => {
      json(response, 200);
    };
    await crawls.run('files_1');
    await crawls.outcome('files_1', 'completed');
    await crawls.expectWhole();
  });

  it('a one-off run that ends while it is paused either completes, or is aborted and completes once it is resumed', async () => {
    const soon = () => ({ scheduleType: 'once', scheduledTime: new Date(Date.now() + 1_500).toISOString() });
    await Promise.all(connectors.map((connector) => crawls.schedule(connector, soon)));
    await waitFor(() => held.size === connectors.length, { what: 'all requests' });
    const end = (connector: string) => {
      json(held.get(connector) as ServerResponse, 200);
    };
    const statuses = await Promise.all(
      connectors.map(async (connector, index) => {
        if (index % 2 === 0) end(connector);
        const pausing = waitFor(
          async () => {
            const { status } = await post(`/${connector}/pause`);
            return status !== 503 && status;
          },
          { what: 'an answer' },
        );
        if (index % 2 === 1) setImmediate(end, connector);
        return pausing;
      }),
    );
    endpoint.answer = (_asked, response) => {
      json(response, 200);
    };
    for (const [index, connector] of connectors.entries()) {
      const isPaused = statuses[index] === 200;
      const { data } = (await platform.call('GET', `/${connector}/schedule`)).body;
      expect([statuses[index], data.state]).toEqual(isPaused ? [200, 'paused'] : [400, 'completed']);
      // A schedule that has finished cannot be resumed.
      expect((await post(`/${connector}/resume`)).status).toBe(statuses[index]);
    }
    for (const [index, connector] of connectors.entries()) {
      await crawls.outcome(connector, 'completed');
      const outcomes = (await crawls.runs(connector)).map(({ outcome }) => outcome as string);
      const list = outcomes.slice(0, statuses[index] === 200 ? 2 : 1);
      expect(list).toEqual(statuses[index] === 200 ? ['completed', 'aborted'] : ['completed']);
    }
    await crawls.expectWhole();
    expect(platform.crawl.logged()).not.toContain('40P01');
  });
});
