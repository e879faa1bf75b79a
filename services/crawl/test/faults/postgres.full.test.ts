import { waitFor } from '@platform/testing';
import pg from 'pg';
import { useEndpointRuns } from '../support/endpoint-runs.js';
import { isReady } from '../support/replica.js';

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

  it('OPS-15 is not ready while the primary has become a standby, and goes on without a restart when it is one again', async () => {
    await runs.postgres?.demote();
    const refused = await runs.platform.call('GET', '/files_1/schedule');
    expect(refused.status).toBe(503);
    expect(await isReady(runs.platform.crawl)).toBe(false);
    const admin = new pg.Client({ connectionString: runs.postgres?.url() });
    await admin.connect();
    await admin.query('select pg_promote()');
    await admin.end();
    await waitFor(() => isReady(runs.platform.crawl), { what: 'readiness' });
    runs.endpoint.reply(200);
    await runs.schedule();
    const runId = await runs.crawls.run('files_1');
    expect(await runs.crawls.outcome('files_1', 'completed')).toMatchObject({ runId });
  });
});
