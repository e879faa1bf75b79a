import { waitFor } from '@platform/testing';
import { createCrawls, daily } from '../support/crawls.js';
import { type Endpoint, json, registerEndpoint, startEndpoint } from '../support/endpoint.js';
import { type Platform, startPlatform } from '../support/platform.js';

describe('the statistics', () => {
  let platform: Platform;
  let endpoint: Endpoint;
  const crawls = createCrawls(() => platform);
  let worker: object;
  beforeAll(async () => {
    endpoint = await startEndpoint();
    endpoint.answer = ({ body }, response) => {
      if (body?.connector === 'mail_1' || body?.connector === 'mail_2') json(response, 500);
      else if (body?.connector === 'wiki_1') json(response, 200);
      else endpoint.held.push(response);
    };
    // One of two runs of a connector waits, and a retry is delayed for longer than the test takes.
    const env = { QUEUE_CONCURRENCY: '1', RETRY_DELAY_MS: '600000' };
    platform = await startPlatform({ backend: 'postgres', env });
    ({ worker } = await registerEndpoint(platform, endpoint.url));
  });
  afterAll(async () => {
    await platform.close();
    await endpoint.stop();
  });

  const statistics = async () => (await platform.call('GET', '/stats')).body.data;

  it('count every state of the jobs, and the runs that completed and failed', async () => {
    // oxfmt-ignore
    expect(await statistics()).toEqual({
      waiting: 0, active: 0, completed: 0, failed: 0, delayed: 0, paused: 0, repeatable: 0, total: 0,
    });
    const other = await platform.createOrganisation();
    const schedule = (connector: string, more: object = {}, token = platform.admin.token) =>
      platform.call('POST', `/${connector}/schedule`, {
        token,
        body: { scheduleConfig: daily, ...worker, ...more },
      });
    // A run of another organisation takes up the concurrency of files_2.
    const ofOther = await registerEndpoint(platform, endpoint.url, other.token);
    await schedule('files_2', ofOther.worker, other.token);
    expect((await platform.call('POST', '/files_2/run', { token: other.token })).status).toBe(202);
    await waitFor(() => endpoint.held.length === 1, { what: "the other's order" });

    for (const connector of ['files_1', 'files_2', 'mail_2', 'wiki_1', 'db_1', 'chat_1'])
      await schedule(connector);
    await schedule('mail_1', { maxRetries: 0 });
    // The states: active, waiting, delayed by a retry, failed, completed twice, delayed until its time, paused.
    for (const connector of ['files_1', 'files_2', 'mail_2', 'mail_1'] as const) await crawls.run(connector);
    for (const time of [1, 2]) {
      await crawls.run('wiki_1');
      await crawls.outcome('wiki_1', 'completed');
      expect((await statistics()).completed).toBe(time);
    }
    expect((await platform.call('POST', '/chat_1/pause')).status).toBe(200);
    await waitFor(() => endpoint.held.length === 2, { what: 'the order' });
    await crawls.outcome('mail_1', 'failed');
    await crawls.outcome('mail_2', 'retrying');
    const queue = (await platform.call('GET', '/queue')).body.data;
    const ended = { completed: 0, failed: 0, aborted: 0 };
    const of = (name: string) =>
      queue.connectors.find(({ connector }: { connector: string }) => connector === name);
    expect(of('files_1')).toMatchObject({ state: 'active', waitingSince: null, ...ended });
    expect(of('files_2')).toMatchObject({ state: 'waiting', waitingSince: expect.any(String), ...ended });
    expect(of('mail_1')).toMatchObject({ waitingSince: null, ...ended, failed: 1 });
    expect(of('mail_2')).toMatchObject({
      state: 'delayed',
      reason: expect.stringContaining('500'),
      ...ended,
    });
    expect(of('wiki_1')).toMatchObject({ state: 'delayed', waitingSince: null, ...ended, completed: 2 });
    expect(of('chat_1')).toMatchObject({ state: 'paused', ...ended });
    expect(queue.lastHour).toHaveLength(30);
    const total = (key: 'completed' | 'failed') =>
      queue.lastHour.reduce((sum: number, step: Record<string, number>) => sum + (step[key] ?? 0), 0);
    expect([total('completed'), total('failed')]).toEqual([2, 1]);
    const day = (token?: string) => platform.call('GET', '/stats/day', token === undefined ? {} : { token });
    expect((await day()).body.data).toEqual({ completed: 2, failed: 1, aborted: 0, isMinimum: false });
    expect((await day(other.token)).body.data).toMatchObject({ completed: 0, failed: 0 });
    // Another organisation sees only its own.
    const foreign = (await platform.call('GET', '/queue', { token: other.token })).body.data;
    expect(foreign.connectors.map(({ connector }: { connector: string }) => connector)).toEqual(['files_2']);
    const scheduledTime = new Date(Date.now() + 3_600_000).toISOString();
    await schedule('code_1', { scheduleConfig: { scheduleType: 'once', scheduledTime } });

    const getState = async (connector: string) =>
      (await platform.call('GET', `/${connector}/schedule`)).body.data.state as string;
    // oxfmt-ignore
    const states = {
      files_1: 'active', files_2: 'waiting', mail_2: 'delayed', mail_1: 'delayed', wiki_1: 'delayed', db_1: 'delayed',
      chat_1: 'paused', code_1: 'delayed',
    };
    for (const [connector, state] of Object.entries(states))
      expect([connector, await getState(connector)]).toEqual([connector, state]);
    // oxfmt-ignore
    expect(await statistics()).toEqual({
      waiting: 1, active: 1, completed: 2, failed: 1, delayed: 5, paused: 1,
      // All schedules except the paused and the one-off one.
      repeatable: 6,
      total: 11,
    });
    // oxfmt-ignore
    expect((await platform.call('GET', '/stats', { token: other.token })).body.data).toMatchObject({
      active: 1, completed: 0, failed: 0, total: 1,
    });
    endpoint.release();
  });
});
