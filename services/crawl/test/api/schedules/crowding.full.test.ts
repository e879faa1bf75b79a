import { waitFor } from '@platform/testing';
import { type Endpoint, json, startEndpoint } from '../../support/endpoint.js';
import {
  describeEachBackend,
  type Organisation,
  type Platform,
  startPlatform,
} from '../../support/platform.js';

const daily = { scheduleType: 'daily', hour: 2, minute: 15 };

describeEachBackend('many concurrent requests on %s', (backend) => {
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
  it('many changes of one organisation do not delay the requests and runs of others, and none is refused', async () => {
    for (const organisation of [platform.admin, quiet]) await schedule(daily, organisation);
    const crowd = Array.from({ length: 400 }, (_item, index) =>
      platform.call('POST', `/files_1/${index % 2 === 0 ? 'pause' : 'resume'}`),
    );
    const { token } = quiet;
    expect((await platform.call('GET', '/files_1/schedule', { token })).status).toBe(200);
    expect((await platform.call('POST', '/files_1/run', { token })).status).toBe(202);
    await waitFor(() => endpoint.asked.length === 1, { what: 'the run' });
    for (const { status } of await Promise.all(crowd)) expect([200, 400]).toContain(status);
  });

  it('runs continue while requests hold all of their database connections', async () => {
    // A failed run writes no event, whose table is locked.
    endpoint.answer = (_asked, response) => {
      json(response, 500);
    };
    const scheduledTime = new Date(Date.now() + 2_000).toISOString();
    expect((await schedule({ scheduleType: 'once', scheduledTime }, quiet)).status).toBe(201);
    const holder = await platform.db.connect();
    await holder.query('begin');
    await holder.query('lock table outbox.events in access exclusive mode');
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
        { what: 'the end of the run' },
      );
    } finally {
      over.abort();
      await holder.query('commit');
      holder.release();
      await Promise.all(crowd);
    }
  });
});
