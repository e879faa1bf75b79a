import { waitFor } from '@platform/testing';
import { daily } from '../../support/crawls.js';
import { type Platform, startPlatform } from '../../support/platform.js';

/* Why a connector has not run, pauses that end by themselves, and the notice to administrators, through HTTP. */

describe('a crawl that makes no progress', () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await startPlatform({ backend: 'postgres', env: { FAILING_AFTER: '2' } });
  });
  afterAll(() => platform.close());
  afterEach(() => platform.call('DELETE', '/schedule/all'));

  const schedule = (more: object = {}) =>
    platform.call('POST', '/files_1/schedule', {
      body: { scheduleConfig: daily, worker: 'pull', maxRetries: 0, ...more },
    });
  const item = async () => (await platform.call('GET', '/files_1/schedule')).body.data;
  const claim = () =>
    platform.call('POST', '/work/claim', { body: { connectors: ['files_1'], worker: 'test', waitMs: 0 } });
  const fail = async () => {
    const { runId } = (await platform.call('POST', '/files_1/run')).body.data;
    const { lease } = (await claim()).body;
    await platform.call('POST', `/work/${runId}/finish`, { body: { lease, state: 'failed', reason: 'no' } });
  };

  it('says which worker is missing, what failed, and when it is due', async () => {
    await schedule();
    expect((await item()).standstill).toEqual({
      code: 'not_due',
      message: expect.stringMatching(/^It is due at 20.*T02:15:00.000Z.$/),
    });
    await platform.call('POST', '/files_1/run');
    expect(await item()).toMatchObject({ standstill: { code: 'no_worker' } });
    // The run keeps its worker when the schedule is replaced.
    await schedule({ worker: 'event' });
    expect((await item()).standstill).toMatchObject({ code: 'no_worker' });
    await schedule();
    const { body } = await claim();
    expect((await item()).standstill).toBeNull();
    await platform.call('POST', `/work/${body.order.runId}/finish`, {
      body: { lease: body.lease, state: 'released' },
    });
    expect((await item()).standstill).toMatchObject({ code: 'waits_for_worker' });
    await platform.db.query("update worker_sightings set seen_at = seen_at - interval '1 hour'");
    expect((await item()).standstill).toEqual({
      code: 'worker_away',
      message: expect.stringContaining('No worker has asked for runs of this connector since 20'),
    });
    const again = (await claim()).body;
    await platform.call('POST', `/work/${again.order.runId}/finish`, {
      body: { lease: again.lease, state: 'failed', reason: 'no luck' },
    });
    expect((await item()).standstill).toEqual({
      code: 'failing',
      message: expect.stringMatching(/^It is due at .*Z. The last run failed with: no luck$/),
    });
  });

  it('resumes by itself when the pause is over', async () => {
    await schedule();
    const pause = (body?: object) => platform.call('POST', '/files_1/pause', body && { body });
    for (const until of ['2020-01-01T00:00:00Z', 'tomorrow']) {
      const refused = await pause({ until });
      expect([refused.status, refused.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    }
    const until = new Date(Date.now() + 1_500).toISOString();
    const paused = await pause({ until });
    expect([paused.status, paused.body.data.pausedUntil]).toEqual([200, until]);
    expect(await item()).toMatchObject({
      state: 'paused',
      pausedUntil: until,
      standstill: { code: 'paused', message: expect.stringContaining(` until ${until}.`) },
    });
    expect((await pause()).status).toBe(400);
    const resumed = await waitFor(
      async () => {
        const found = await item();
        return found.state !== 'paused' && found;
      },
      { what: 'the end of the pause' },
    );
    expect(resumed).toMatchObject({ state: 'delayed', pausedAt: null, pausedUntil: null });
    expect(resumed.nextRunAt).toMatch(/T02:15:00.000Z$/);
    expect((await pause()).status).toBe(200);
  });

  it('is reported to identity when it keeps failing', async () => {
    await schedule();
    await fail();
    await fail();
    const { rows } = await platform.db.query(
      'select noticed_at is not null as "isNoticed" from connector_states',
    );
    expect(rows).toEqual([{ isNoticed: true }]);
    const isEmpty = async () => (await platform.db.query('select from facts')).rowCount === 0;
    await waitFor(isEmpty, { what: 'the handing over to identity' });
  });
});
