import { HOUR_MS } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import { onceIn } from '../support/crawls.js';
import { toKeys, useEndpointRuns } from '../support/endpoint-runs.js';

const hourly = { scheduleType: 'hourly', minute: 7 };
const regular = ['wiki_1', 'db_1', 'chat_1'] as const;

describe('a wall clock that is set', () => {
  const runs = useEndpointRuns('postgres', { env: { ROLE: 'api' } });
  const { crawls } = runs;

  const getNext = async (connector: string) =>
    Date.parse((await runs.platform.call('GET', `/${connector}/schedule`)).body.data.nextRunAt);

  it('forward and back runs each due schedule once, continues the run in progress, and keeps pauses', async () => {
    await runs.platform.addProcess({ ROLE: 'all', CLOCK_AHEAD_MS: '0' }, { isFirst: true });
    for (const connector of [...regular, 'mail_1', 'files_1'] as const)
      await crawls.schedule(connector, hourly);
    await crawls.schedule('code_1', onceIn(5 * HOUR_MS));
    await runs.platform.call('POST', '/mail_1/pause');
    runs.endpoint.hold();
    const runId = await crawls.run('files_1');
    await waitFor(() => runs.endpoint.held.length === 1, { what: 'the order' });

    await runs.platform.crawl.setClock(6 * HOUR_MS);
    // The scheduled run of files_1 became due during the requested run.
    await crawls.outcome('files_1', 'skipped');
    // The lease ended with the jump, so the same order may be sent again; its key says that it is the same.
    const getRequested = async () => (await crawls.runs('files_1'))[1];
    expect(await getRequested()).toMatchObject({ runId, attempts: 1 });
    const hasEnded = async () => {
      runs.endpoint.release();
      return (await getRequested()).outcome === 'completed';
    };
    await waitFor(hasEnded, { what: 'its end' });
    for (const connector of [...regular, 'code_1'] as const) await crawls.outcome(connector, 'completed');
    await crawls.expectWhole();
    expect(toKeys(runs.endpoint.asked).size).toBe(1);
    for (const connector of [...regular, 'code_1'] as const)
      expect(await crawls.runs(connector)).toHaveLength(1);
    expect(await crawls.runs('mail_1')).toEqual([]);
    for (const connector of regular)
      expect(await getNext(connector)).toBeGreaterThan(Date.now() + 6 * HOUR_MS);

    await runs.platform.crawl.setClock(0);
    for (const connector of regular) {
      await crawls.run(connector);
      await crawls.outcome(connector, 'completed');
      expect((await crawls.runs(connector)).map(({ trigger }) => trigger as string).toSorted()).toEqual([
        'manual',
        // The clock was set past its time.
        'missed',
      ]);
      expect(await getNext(connector)).toBeGreaterThan(Date.now());
    }
    await crawls.schedule('wiki_1', hourly);
    expect((await runs.platform.call('POST', '/mail_1/resume')).status).toBe(200);
    for (const connector of ['wiki_1', 'mail_1'])
      expect(await getNext(connector)).toBeLessThanOrEqual(Date.now() + HOUR_MS);
    await crawls.expectWhole();
  });
});
