import { createFactSender, ReportedFact } from '@platform/events';
import { createLogger, DAY_MS, HOUR_MS } from '@platform/service-kit';
import pg from 'pg';
import { Registry } from 'prom-client';
import { Compile } from 'typebox/compile';
import { cancelRun } from '../../src/db/cancel-run.js';
import { recordCommand } from '../../src/db/facts.js';
import { at, filesOf, useRunRows } from '../support/run-rows.js';

/* The facts that are reported to identity, on rows. A connector counts as failing after three failed runs. */

describe('crawls that keep failing', () => {
  const rows = useRunRows();
  afterEach(() => rows.pool.query('delete from facts'));

  const factsOf = async (orgId: string) =>
    (
      await rows.pool.query<{ type: string; failures: number; reason: string | null }>(
        `select type, (data ->> 'failures')::int as failures, data ->> 'reason' as reason from facts
         where org_id = $1 and type in ('crawl.failing', 'crawl.recovered') order by created_at`,
        [orgId],
      )
    ).rows;
  const fail = async ({ claim }: Awaited<ReturnType<typeof rows.scheduleMinutely>>, reason: string) => {
    expect(await rows.newLifecycle().fail({ ...(await claim()), attempts: 2 }, reason)).toBe('failed');
  };

  it('are reported at the third failure, once a day, and when a run completes again', async () => {
    const schedule = await rows.scheduleMinutely();
    for (const [time, reason] of [
      [at, 'one'],
      [at + HOUR_MS, 'two'],
      [at + 2 * HOUR_MS, 'three'],
      [at + 3 * HOUR_MS, 'four'],
      [at + DAY_MS + HOUR_MS, 'five'],
    ] as const) {
      rows.now = time;
      await fail(schedule, reason);
    }
    const failing = [
      { type: 'crawl.failing', failures: 3, reason: 'three' },
      { type: 'crawl.failing', failures: 5, reason: 'five' },
    ];
    expect(await factsOf(schedule.orgId)).toEqual(failing);
    for (const day of [2, 3]) {
      rows.now = at + day * DAY_MS;
      await rows.newLifecycle().complete(await schedule.claim());
    }
    const recovered = { type: 'crawl.recovered', failures: 0, reason: null };
    expect(await factsOf(schedule.orgId)).toEqual([...failing, recovered]);
  });

  it('are handed to identity by one replica, again after a failure, and forgotten once it has stored them', async () => {
    const schedule = await rows.scheduleMinutely();
    for (const minute of [0, 1, 2]) {
      rows.now = at + minute * 60_000;
      await fail(schedule, `no ${minute}`);
    }
    await rows.pool.query(`delete from facts where type like 'crawl.run.%'`);
    const given: unknown[][] = [];
    const registry = new Registry();
    let isRefused = true;
    let count = 0;
    const sender = createFactSender({
      pool: rows.pool,
      report: async (_path, body) => {
        count += 1;
        if (isRefused) throw new Error('identity is unavailable');
        given.push((body as { facts: unknown[] }).facts);
        return 200;
      },
      registry,
      clock: () => rows.now,
      log: createLogger('test', 'silent'),
    });
    await Promise.all([sender.run(), sender.run()]);
    expect(count).toBe(1);
    isRefused = false;
    await sender.run();
    expect(given).toEqual([]);
    expect(await factsOf(schedule.orgId)).toHaveLength(1);
    rows.now += 15_000;
    expect(await registry.metrics()).toMatch(/^platform_facts_oldest_age_seconds 15$/m);
    await Promise.all([sender.run(), sender.run()]);
    expect(await registry.metrics()).toMatch(/^platform_facts_oldest_age_seconds 0$/m);
    const { orgId } = schedule;
    const data = { connector: 'files_1', instance: 'default', name: 'files_1', failures: 3, reason: 'no 2' };
    const fact = {
      id: expect.any(String),
      orgId,
      type: 'crawl.failing',
      at: new Date(at + 120_000).toISOString(),
    };
    expect(given).toEqual([[{ ...fact, data }]]);
    expect(await factsOf(orgId)).toEqual([]);
  });

  it('are measured without keeping other metrics from a scrape while the database fails', async () => {
    const registry = new Registry();
    const pool = new pg.Pool({ connectionString: 'postgres://127.0.0.1:1/none' });
    const deps = { report: async () => 200, registry };
    createFactSender({ ...deps, pool, clock: () => rows.now, log: createLogger('test', 'silent') });
    expect(await registry.metrics()).toContain('platform_facts_oldest_age_seconds Nan');
    await pool.end();
  });

  it('keep no other waiting when identity refuses one of them', async () => {
    const { orgId } = await rows.scheduleMinutely();
    await rows.pool.query(
      `insert into facts (id, org_id, type, data, created_at, due_at)
       select gen_random_uuid(), $1, 'crawl.failing', jsonb_build_object('failures', n, 'reason', 'no'), $2, $2
       from generate_series(1, 3) n`,
      [orgId, new Date(rows.now)],
    );
    const given: unknown[] = [];
    const registry = new Registry();
    const sender = createFactSender({
      pool: rows.pool,
      report: async (_path, body) => {
        const { facts } = body as { facts: { data: { failures: number } }[] };
        const failures = facts.map(({ data }) => data.failures);
        if (failures.includes(2)) return 400;
        given.push(...failures);
        return 200;
      },
      registry,
      clock: () => rows.now,
      log: createLogger('test', 'silent'),
    });
    await sender.run();
    expect(new Set(given)).toEqual(new Set([1, 3]));
    expect(await factsOf(orgId)).toEqual([{ type: 'crawl.failing', failures: 2, reason: 'no' }]);
    rows.now += HOUR_MS;
    await sender.run();
    expect(await factsOf(orgId)).toHaveLength(1);
  });
});

describe('the ends of runs', () => {
  const rows = useRunRows();

  it('are facts, whichever way a run ends', async () => {
    const { pool } = rows;
    const schedule = await rows.scheduleMinutely();
    await rows.newLifecycle().complete(await schedule.claim());
    rows.now = at + 60_000;
    await rows.newLifecycle().fail({ ...(await schedule.claim()), attempts: 2 }, 'no');
    const { rows: facts } = await pool.query<{
      type: string;
      data: { runId: string; reason: string | null; nextRunAt: string | null };
    }>('select type, data from facts where org_id = $1 order by created_at', [schedule.orgId]);
    const run = { connector: 'files_1', instance: 'default', trigger: 'schedule', worker: 'event' };
    expect(facts).toMatchObject([
      { type: 'crawl.run.completed', data: { ...run, attempts: 1, reason: null } },
      { type: 'crawl.run.failed', data: { ...run, attempts: 1, reason: 'no' } },
    ]);
    const runs = await pool.query<{ id: string }>(
      'select id from runs where org_id = $1 order by finished_at',
      [schedule.orgId],
    );
    // The schedule's next minute.
    expect(facts.map(({ data }) => new Date(data.nextRunAt ?? 0).getTime() % 60_000)).toEqual([0, 0]);
    expect(facts.map(({ data }) => data.nextRunAt)).not.toContain(null);
    expect(facts.map(({ data }) => data.runId)).toEqual(runs.rows.map(({ id }) => id));
  });

  it('are facts when somebody ends them, and once for any number of runs in a row that are skipped', async () => {
    const { pool } = rows;
    const schedule = await rows.scheduleMinutely();
    const skipMinutes = async (minutes: readonly number[]) => {
      for (const minute of minutes) {
        rows.now = at + minute * 60_000;
        await schedule.dispatch();
      }
    };
    const cancel = async (claim: Awaited<ReturnType<typeof schedule.claim>>) =>
      cancelRun(pool, { ...filesOf(schedule.orgId), runId: claim.id }, new Date(rows.now), null);
    const first = await schedule.claim();
    await skipMinutes([1, 2, 3]);
    expect(await cancel(first)).toBe(true);
    rows.now = at + 4 * 60_000;
    const second = await schedule.claim();
    await skipMinutes([5, 6]);
    expect(await cancel(second)).toBe(true);
    const { rows: facts } = await pool.query<{ type: string; at: Date }>(
      'select type, created_at as at from facts where org_id = $1 order by created_at, type',
      [schedule.orgId],
    );
    expect(facts.map(({ type, at: time }) => [type, (time.getTime() - at) / 60_000])).toEqual([
      ['crawl.run.skipped', 1],
      ['crawl.run.aborted', 3],
      ['crawl.run.skipped', 5],
      ['crawl.run.aborted', 6],
    ]);
    const { rows: runs } = await pool.query('select state from runs where schedule_id = $1', [schedule.id]);
    expect(runs).toHaveLength(7);
  });

  it('and everything else that is reported fit their contracts', async () => {
    await rows.scheduleDaily();
    await recordCommand(rows.pool, 'crawl after-restore', new Date(rows.now));
    const { rows: facts } = await rows.pool.query<{ type: string; at: Date }>(
      'select id, org_id as "orgId", type, data, created_at as at from facts',
    );
    const reported = Compile(ReportedFact);
    for (const fact of facts) expect(reported.Errors({ ...fact, at: fact.at.toISOString() })).toEqual([]);
    const types = new Set(facts.map(({ type }) => type));
    expect([...types].toSorted()).toEqual([
      'audit.entry',
      'crawl.run.aborted',
      'crawl.run.completed',
      'crawl.run.failed',
      'crawl.run.skipped',
    ]);
  });
});
