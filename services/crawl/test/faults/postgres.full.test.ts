import { waitFor } from '@platform/testing';
import { useEndpointRuns } from '../support/endpoint-runs.js';

describe('an outage of PostgreSQL, which has the queues, too', () => {
  const runs = useEndpointRuns('postgres', { hasOwnPostgres: true });

  it('fails requests with 503, and a run that ends meanwhile publishes one event afterwards', async () => {
    const runId = await runs.startHeldRun();
    await runs.postgres?.stop();
    const refused = await runs.platform.call('GET', '/files_1/schedule');
    expect([refused.status, refused.body]).toMatchObject([
      503,
      { success: false, error: { code: 'SERVICE_UNAVAILABLE' } },
    ]);
    // The job may be delivered again: its order is answered, too.
    runs.endpoint.reply(200);
    runs.endpoint.release();
    await runs.postgres?.start();
    const isBack = async () => (await runs.platform.call('GET', '/stats')).status === 200;
    await waitFor(isBack, { what: 'the API' });
    expect(await runs.crawls.outcome('files_1', 'completed')).toMatchObject({ runId });
    expect(await runs.countEvents(runId)).toBe(1);
  });
});
