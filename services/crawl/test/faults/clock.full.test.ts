import type { ServerResponse } from 'node:http';
import { HOUR_MS } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import { createCrawls } from '../support/crawls.js';
import { type Endpoint, json, startEndpoint } from '../support/endpoint.js';
import { describeEachBackend, type Platform, startPlatform } from '../support/platform.js';

const hourly = { scheduleType: 'hourly', minute: 7 };
const regular = ['wiki_1', 'db_1', 'chat_1'] as const;

describeEachBackend('a clock that is set on %s', (backend) => {
  let platform: Platform;
  let endpoint: Endpoint;
  const held: ServerResponse[] = [];
  const crawls = createCrawls(() => platform);
  beforeAll(async () => {
    endpoint = await startEndpoint();
    endpoint.answer = (_asked, response) => void held.push(response);
    platform = await startPlatform({
      backend,
      env: { TASKS: `files_1=${endpoint.url},files_2=${endpoint.url}`, CLOCK_AHEAD_MS: '0' },
    });
  });
  afterAll(async () => {
    await platform.close();
    await endpoint.close();
  });

  const getNext = async (connector: string) =>
    Date.parse((await platform.call('GET', `/${connector}/schedule`)).body.data.nextRunAt);

  it('after a jump forward each due schedule runs once, a run in progress continues, and a paused schedule stays paused', async () => {
    for (const connector of [...regular, 'mail_1', 'files_1'] as const)
      await crawls.schedule(connector, hourly);
    await crawls.schedule('code_1', {
      scheduleType: 'once',
      scheduledTime: new Date(Date.now() + 5 * HOUR_MS).toISOString(),
    });
    await platform.call('POST', '/mail_1/pause');
    const runId = await crawls.run('files_1');
    await waitFor(() => held.length === 1, { what: 'the request' });
    await platform.crawl.setClock(6 * HOUR_MS);
    for (const connector of [...regular, 'code_1'] as const) await crawls.outcome(connector, 'completed');
    // The scheduled run of files_1 became due during the requested run.
    await crawls.outcome('files_1', 'skipped');
    // The lease ended with the jump, so the same order may be sent again; its key says that it is the same.
    const requested = (await crawls.runs('files_1'))[1];
    expect(requested).toMatchObject({ runId, attempts: 1 });
    expect(['active', 'retrying']).toContain(requested.outcome);
    const hasEnded = async () => {
      for (const response of held.splice(0)) json(response, 200);
      return (await crawls.runs('files_1'))[1].outcome === 'completed';
    };
    await waitFor(hasEnded, { what: 'its end' });
    await crawls.expectWhole();
    expect(new Set(endpoint.asked.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    for (const connector of [...regular, 'code_1'] as const)
      expect(await crawls.runs(connector)).toHaveLength(1);
    expect(await crawls.runs('mail_1')).toEqual([]);
    for (const connector of regular)
      expect(await getNext(connector)).toBeGreaterThan(Date.now() + 6 * HOUR_MS);
  });

  it('after a jump back no schedule runs again, requested runs start, new schedules are accepted, and all next runs are in the future', async () => {
    await platform.crawl.setClock(0);
    for (const connector of regular) {
      await crawls.run(connector);
      await crawls.outcome(connector, 'completed');
    }
    await crawls.schedule('wiki_1', hourly);
    await crawls.expectWhole();
    for (const connector of regular) {
      expect((await crawls.runs(connector)).map(({ trigger }) => trigger as string).toSorted()).toEqual([
        'manual',
        // The clock was set past its time.
        'missed',
      ]);
      expect(await getNext(connector)).toBeGreaterThan(Date.now());
    }
    expect(await getNext('wiki_1')).toBeLessThanOrEqual(Date.now() + HOUR_MS);
    expect((await platform.call('POST', '/mail_1/resume')).status).toBe(200);
    expect(await getNext('mail_1')).toBeLessThanOrEqual(Date.now() + HOUR_MS);
    await crawls.expectWhole();
  });

  it('after a jump back during a run, whose time is in the future then, a new schedule is accepted at once and runs', async () => {
    await crawls.schedule('files_2', hourly);
    held.length = 0;
    await platform.crawl.setClock(2 * HOUR_MS);
    await waitFor(() => held.length === 1, { what: 'the request' });
    await platform.crawl.setClock(0);
    // A scheduler without a job in the queue cannot reuse the id of an active job.
    const scheduledTime = new Date(Date.now() + HOUR_MS).toISOString();
    await crawls.schedule('files_2', { scheduleType: 'once', scheduledTime });
    const { status } = await platform.call('POST', '/files_2/schedule', { body: { scheduleConfig: hourly } });
    expect(status).toBe(201);
    held.forEach((response) => json(response, 200));
    await crawls.outcome('files_2', 'completed');
    await crawls.expectWhole();
    await platform.crawl.setClock(2 * HOUR_MS);
    await waitFor(() => held.length === 2, { what: 'the next request' });
    held.forEach((response) => json(response, 200));
    await crawls.expectWhole();
  });
});
