import pg from 'pg';
import { connectors } from '@platform/events';
import { useRunRows } from '../support/run-rows.js';

/** BURST_SCHEDULES=100000 takes some minutes. */
const SCHEDULES = Number(process.env['BURST_SCHEDULES'] ?? 20_000);
/** A second on a machine of its own, which the output shows; this one may be busy. */
const MAX_STATEMENT_MS = 5_000;

describe(`${SCHEDULES} schedules that are due at the same instant`, () => {
  const rows = useRunRows();

  it('are dispatched in order and once, and no statement takes seconds', async () => {
    await rows.pool.query(
      `with orgs as materialized (select g, gen_random_uuid() as id from generate_series(0, $1::int / cardinality($2::text[])) g)
       insert into schedules (id, org_id, connector, user_id, config, priority, max_retries, timeout_ms, state, revision,
         scheduled_at, next_run_at, anchor_at)
       select gen_random_uuid(), orgs.id, ($2::text[])[1 + n % cardinality($2::text[])], orgs.id,
         '{"scheduleType": "daily", "hour": 0, "minute": 0, "isEnabled": true, "timezone": "UTC", "jitterMs": 0,
           "missedRunPolicy": "run_once"}', 5, 3, 300000, 'active', nextval('schedule_revisions'), $3, $3, $3
       from generate_series(0, $1::int - 1) n join orgs on orgs.g = n / cardinality($2::text[])`,
      [SCHEDULES, [...connectors], new Date(rows.now)],
    );
    await rows.pool.query('analyze schedules');
    const slowest = new Map<string, number>();
    const query = pg.Client.prototype.query as (this: pg.Client, ...args: unknown[]) => unknown;
    const timed = jest.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
      this: pg.Client,
      ...args: unknown[]
    ): unknown {
      const startedAt = performance.now();
      const result = query.apply(this, args);
      const { name = 'other' } = args[0] as { name?: string };
      const record = () => slowest.set(name, Math.max(slowest.get(name) ?? 0, performance.now() - startedAt));
      void Promise.resolve(result).then(record, record);
      return result;
    });
    const startedAt = performance.now();
    const delivered = await rows.dispatch();
    timed.mockRestore();
    const seconds = (performance.now() - startedAt) / 1_000;
    process.stdout.write(`dispatched ${SCHEDULES} in ${seconds.toFixed(1)} s; slowest statements in ms:\n`);
    for (const [name, ms] of slowest) process.stdout.write(`  ${name} ${ms.toFixed(0)}\n`);
    expect(new Set(delivered.map(({ id }) => id)).size).toBe(SCHEDULES);
    expect(delivered).toHaveLength(SCHEDULES);
    for (const ms of slowest.values()) expect(ms).toBeLessThan(MAX_STATEMENT_MS);
  });
});
