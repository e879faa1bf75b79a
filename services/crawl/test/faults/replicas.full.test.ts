import { connectors } from '@platform/events';
import { waitFor } from '@platform/testing';
import { createCrawls } from '../support/crawls.js';
import { startEndpoint } from '../support/endpoint.js';
import { describeEachBackend, type Platform, startPlatform } from '../support/platform.js';
import type { ServiceProcess } from '../support/service-process.js';

describeEachBackend('two replicas on %s', (backend) => {
  let platform: Platform;
  const crawls = createCrawls(() => platform);
  beforeAll(async () => {
    platform = await startPlatform({ backend, env: { RECONCILE_INTERVAL_MS: '200', ROLE: 'api' } });
  });
  afterAll(() => platform.close());

  /** Adds a worker whose database connections have this application name. */
  function addNamed(name: string): Promise<ServiceProcess> {
    const url = new URL(platform.databaseUrl);
    url.searchParams.set('application_name', name);
    return platform.addCrawl({ ROLE: 'worker', DATABASE_URL: url.href });
  }

  it('a replica with the role worker requests no keys from identity', async () => {
    const identity = await startEndpoint();
    // An API would fetch the keys before it is ready.
    const worker = await platform.addCrawl({ ROLE: 'worker', IDENTITY_URL: identity.url });
    await worker.stop();
    await identity.close();
    expect(identity.asked).toEqual([]);
  });

  it('when one is killed during its repairs the other completes them, and each missed run starts once', async () => {
    const { orgId } = platform.admin;
    await Promise.all(connectors.map((connector) => crawls.schedule(connector)));
    const replicas = { one: await addNamed('one'), two: await addNamed('two') };
    await crawls.expectWhole();

    const blocked = 'wiki_1';
    const client = await platform.db.connect();
    await client.query('begin');
    // The replica that inserts the missed run waits for this transaction.
    await client.query(
      `insert into runs (id, schedule_id, revision, org_id, connector, trigger, tick, job_id, state, scheduled_for,
         created_at, attempts_max)
       select gen_random_uuid(), id, revision, org_id, connector, 'manual', 'm', '', 'waiting', now(), now(), 1
       from schedules where org_id = $1 and connector = $2`,
      [orgId, blocked],
    );
    for (const connector of connectors)
      for (const { key } of await platform.queues.listSchedulers(connector))
        await platform.queues.removeScheduler(connector, key);
    await platform.db.query(`update schedules set next_run_at = now() - interval '1 hour'`);
    const waiting = `select application_name as name from pg_stat_activity
                     where datname = current_database() and wait_event_type = 'Lock'`;
    const leader = await waitFor(
      async () => (await platform.db.query<{ name: 'one' | 'two' }>(waiting)).rows[0]?.name,
      { what: 'a replica at its repairs' },
    );
    await replicas[leader].kill();
    await client.query('rollback');
    client.release();

    await Promise.all(connectors.map((connector) => crawls.outcome(connector, 'completed')));
    await crawls.expectWhole();
    for (const connector of connectors) {
      const [run, ...others] = await crawls.runs(connector);
      expect(run).toMatchObject({ trigger: 'missed', outcome: 'completed', attempts: 1 });
      expect(others).toEqual([]);
    }
    const { rows } = await platform.db.query(
      'select missed_runs, next_run_at > now() as planned from schedules',
    );
    expect(rows).toEqual(connectors.map(() => ({ missed_runs: 1, planned: true })));
  });
});
