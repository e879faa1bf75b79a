import { connectors } from '@platform/events';
import { describeWith, waitFor } from '@platform/testing';
import { type Platform, startPlatform } from '../support/platform.js';

const SCHEDULES = 10_000;
const DUE = 3_000;
/** Only ends a hang, because a busy machine needs minutes for so many runs. */
const PATIENCE_MS = 600_000;

describeWith('own-redis', `${DUE} due runs of ${SCHEDULES} schedules`, () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await startPlatform({ backend: 'redis', env: { ROLE: 'api' } });
  });
  afterAll(() => platform.close());

  const count = async (where: string): Promise<number> =>
    (await platform.db.query<{ count: number }>(`select count(*)::int as count from ${where}`)).rows[0]
      ?.count ?? NaN;

  it('run once each although the queue is flushed twice and a replica is killed', async () => {
    // Each organisation has every connector. The first schedules are due, the others tomorrow.
    await platform.db.query(
      `with orgs as materialized (select g, gen_random_uuid() as id from generate_series(0, $1::int / cardinality($2::text[])) g)
       insert into schedules (id, org_id, connector, user_id, config, priority, max_retries, timeout_ms, state, revision,
         scheduled_at, next_run_at, anchor_at)
       select gen_random_uuid(), orgs.id, ($2::text[])[1 + n % cardinality($2::text[])], orgs.id,
         '{"scheduleType": "daily", "hour": 2, "minute": 0, "isEnabled": true, "timezone": "UTC", "jitterMs": 0,
           "missedRunPolicy": "run_once"}', 5, 3, 300000, 'active', nextval('schedule_revisions'), now(),
         case when n < $3 then now() else now() + interval '1 day' end, now()
       from generate_series(0, $1::int - 1) n join orgs on orgs.g = n / cardinality($2::text[])`,
      [SCHEDULES, [...connectors], DUE],
    );
    const env = { ROLE: 'worker', LOG_LEVEL: 'warn' };
    const first = await platform.addProcess(env);
    await platform.addCrawl(env);
    const reach = (part: number) =>
      waitFor(async () => (await count(`runs where state = 'completed'`)) >= part * DUE, {
        what: `${part} of the runs`,
        patienceMs: PATIENCE_MS,
      });
    await reach(0.1);
    await platform.redis?.flush();
    await reach(0.3);
    await first.kill();
    await reach(0.5);
    await platform.redis?.flush();
    await platform.addCrawl(env);
    await reach(1);
    // A tick that ran twice would have another run, and a run that completed twice another event.
    expect(await count(`runs`)).toBe(DUE);
    expect(await count(`(select distinct schedule_id, tick from runs) as ticks`)).toBe(DUE);
    expect(await count('outbox.events')).toBe(DUE);
    expect(await count(`schedules where next_run_at > now()`)).toBe(SCHEDULES);
  });
});
