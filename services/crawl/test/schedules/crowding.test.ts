import { connectors } from '@platform/events';
import { waitFor } from '@platform/testing';
import { type Endpoint, json, startEndpoint } from '../support/endpoint.js';
import { describeEachBackend, type Organisation, type Platform, startPlatform } from '../support/platform.js';

const daily = { scheduleType: 'daily', hour: 2, minute: 15 };

describeEachBackend('a crowd of requests on %s', (backend) => {
  let platform: Platform;
  let endpoint: Endpoint;
  let quiet: Organisation;
  beforeAll(async () => {
    endpoint = await startEndpoint();
    const env = { TASKS: `files_1=${endpoint.url}`, DATABASE_CONNECTIONS_MAX: '10' };
    platform = await startPlatform({ backend, env });
    quiet = await platform.createOrganisation();
  });
  afterAll(async () => {
    await platform.close();
    await endpoint.close();
  });

  const schedule = (scheduleConfig: object, { token }: Organisation) =>
    platform.call('POST', '/files_1/schedule', { token, body: { scheduleConfig, maxRetries: 0 } });
  const countWaiting = async () =>
    (
      await platform.db.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
    ).rowCount ?? 0;

  it("one organisation's changes of one schedule leave the others their answers and their runs", async () => {
    for (const organisation of [platform.admin, quiet]) await schedule(daily, organisation);
    const holder = await platform.db.connect();
    await holder.query('begin');
    // As another replica does for as long as it changes the schedule.
    await holder.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
      `${platform.admin.orgId}:files_1`,
    ]);
    const crowd = Array.from({ length: 200 }, (_item, index) =>
      platform.call('POST', `/files_1/${index % 2 === 0 ? 'pause' : 'resume'}`),
    );
    await waitFor(countWaiting, { what: 'a change that waits' });
    const { token } = quiet;
    expect((await platform.call('GET', '/files_1/schedule', { token })).status).toBe(200);
    expect((await platform.call('POST', '/files_1/run', { token })).status).toBe(202);
    await waitFor(() => endpoint.asked.length === 1, { what: 'the run' });
    await holder.query('commit');
    holder.release();
    const answers = await Promise.all(crowd);
    for (const { status, body, headers } of answers) {
      expect([200, 400, 503]).toContain(status);
      if (status !== 503) continue;
      expect(body).toMatchObject({ success: false, error: { code: 'NOTHING_DONE' } });
      expect(headers.get('retry-after')).toBe('1');
    }
    expect(answers.some(({ status }) => status === 503)).toBe(true);
    expect((await platform.call('POST', '/files_1/pause')).status).not.toBe(503);
  });

  it('two organisations whose every change waits leave a third its answers', async () => {
    const crowded = connectors.slice(0, 8);
    const busy = [platform.admin, await platform.createOrganisation()];
    const holder = await platform.db.connect();
    await holder.query('begin');
    for (const { orgId } of busy)
      await holder.query('select pg_advisory_xact_lock(hashtextextended(key, 0)) from unnest($1::text[]) as key', [
        crowded.map((connector) => `${orgId}:${connector}`),
      ]); // prettier-ignore
    const over = new AbortController();
    const crowd = busy.flatMap(({ token }) =>
      crowded.map(async (connector) => {
        while (!over.signal.aborted) await platform.call('POST', `/${connector}/pause`, { token });
      }),
    );
    try {
      await waitFor(async () => (await countWaiting()) >= 7, { what: 'as many changes as may wait' });
      for (let round = 0; round < 5; round += 1) expect((await schedule(daily, quiet)).status).toBe(201);
      expect((await platform.call('GET', '/files_1/schedule', { token: quiet.token })).status).toBe(200);
    } finally {
      over.abort();
      await holder.query('rollback');
      holder.release();
      await Promise.all(crowd);
    }
  });

  it('runs go on while requests hold every connection that they may have', async () => {
    // It fails: no event has to be written, only the run.
    endpoint.answer = (_asked, response) => {
      json(response, 500);
    };
    const scheduledTime = new Date(Date.now() + 2_000).toISOString();
    expect((await schedule({ scheduleType: 'once', scheduledTime }, quiet)).status).toBe(201);
    const holder = await platform.db.connect();
    await holder.query('begin');
    await holder.query('lock table sync_events.outbox in access exclusive mode');
    const over = new AbortController();
    const keepAsking = async () => {
      while (!over.signal.aborted) await platform.call('GET', '/events');
    };
    const crowd = Array.from({ length: 100 }, keepAsking);
    try {
      await waitFor(
        async () => (await platform.call('GET', '/stats', { token: quiet.token })).status === 503,
        {
          what: 'a service without a free connection',
        },
      );
      await waitFor(
        async () =>
          (
            await platform.db.query(
              `select from runs where org_id = $1 and trigger = 'schedule' and state = 'failed'`,
              [quiet.orgId],
            )
          ).rowCount === 1,
        { what: 'the end of the run', timeoutMs: 10_000 },
      );
    } finally {
      over.abort();
      await holder.query('commit');
      holder.release();
      await Promise.all(crowd);
    }
  });
});
