import { waitFor } from '@platform/testing';
import { daily, onceIn } from '../../support/crawls.js';
import { useEndpointRuns } from '../../support/endpoint-runs.js';
import type { Organisation } from '../../support/platform.js';

describe('many concurrent requests of one organisation', () => {
  const runs = useEndpointRuns('postgres', { env: { DATABASE_CONNECTIONS_MAX: '4' } });
  let quiet: Organisation;
  let worker: object;
  beforeAll(async () => {
    quiet = await runs.platform.createOrganisation();
    worker = await runs.register(quiet);
  });

  const schedule = (scheduleConfig: object = daily) =>
    runs.platform.call('POST', '/files_1/schedule', {
      token: quiet.token,
      body: { scheduleConfig, maxRetries: 0, ...worker },
    });

  it('do not delay the requests and runs of others, and none is refused', async () => {
    await runs.schedule();
    await schedule();
    const crowd = Array.from({ length: 40 }, (_item, index) =>
      runs.platform.call('POST', `/files_1/${index % 2 === 0 ? 'pause' : 'resume'}`),
    );
    const { token } = quiet;
    expect((await runs.platform.call('GET', '/files_1/schedule', { token })).status).toBe(200);
    expect((await runs.platform.call('POST', '/files_1/run', { token })).status).toBe(202);
    await waitFor(() => runs.endpoint.asked.length === 1, { what: 'the run' });
    for (const { status } of await Promise.all(crowd)) expect([200, 400]).toContain(status);
  });

  it('do not keep runs from continuing while they hold all database connections of requests', async () => {
    // A failed run writes no event, whose table is locked.
    runs.endpoint.reply(500);
    expect((await schedule(onceIn(2_000))).status).toBe(201);
    const holder = await runs.platform.db.connect();
    await holder.query('begin');
    await holder.query('lock table outbox.events in access exclusive mode');
    const over = new AbortController();
    const keepAsking = async () => {
      while (!over.signal.aborted) await runs.platform.call('GET', '/events');
    };
    const crowd = Array.from({ length: 30 }, keepAsking);
    try {
      const { token, orgId } = quiet;
      const isBusy = async () => (await runs.platform.call('GET', '/stats', { token })).status === 503;
      await waitFor(isBusy, { what: 'a service without a free connection' });
      const failed = `select from runs where org_id = $1 and trigger = 'schedule' and state = 'failed'`;
      const hasEnded = async () => (await runs.platform.db.query(failed, [orgId])).rowCount === 1;
      await waitFor(hasEnded, { what: 'the end of the run' });
    } finally {
      over.abort();
      await holder.query('commit');
      holder.release();
      await Promise.all(crowd);
    }
  });
});
