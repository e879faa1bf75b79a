import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { migrate } from '@platform/service-kit';
import { createTestDatabase, type TestDatabase, waitFor } from '@platform/testing';
import pg from 'pg';
import { onceJobId, tickJobId, type CrawlJob } from '../../src/features/queues/job.js';
import { type ExpectedJob, findActivePage, findOverdue } from '../../src/features/reconciliation/queries.js';
import { renewLeases, saveProgress } from '../../src/features/runs/holding.queries.js';
import { createRunLifecycle } from '../../src/features/runs/run-lifecycle.js';
import { findStatus, findStatuses } from '../../src/features/schedules/status.queries.js';

/* What becomes of the rows when things happen at the same time, without a queue. */

const migrationsDir = fileURLToPath(new URL('../../prisma/migrations', import.meta.url));
const at = Date.parse('2030-01-01T00:00:00Z');

describe('rows of runs', () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  let now = at;
  beforeAll(async () => {
    database = await createTestDatabase({
      template: 'crawl-rows',
      migrationsDir,
      migrate: (url) => migrate(url, migrationsDir).then(() => undefined),
    });
    pool = new pg.Pool({ connectionString: database.url });
  }, 60_000);
  afterAll(async () => {
    await pool.end();
    await database.drop();
  });
  beforeEach(() => (now = at));

  const times = { leaseMs: 30_000, retryDelayMs: 1_000, misfireGraceMs: 300_000 };
  const newLifecycle = () => createRunLifecycle({ pool, clock: () => now, times, onEvent: () => undefined });
  async function insertSchedule(type: object) {
    const [id, orgId] = [randomUUID(), randomUUID()];
    const config = { ...type, timezone: 'UTC' };
    await pool.query(
      `insert into schedules (id, org_id, connector, user_id, config, priority, max_retries, timeout_ms,
         state, revision, scheduled_at, next_run_at)
       values ($1, $2, 'files_1', $3, $4, 5, 1, 60000, 'active', 1, $5, $5)`,
      [id, orgId, randomUUID(), JSON.stringify({ jitterMs: 0, missedRunPolicy: 'run_once', ...config }), new Date(at)],
    ); // prettier-ignore
    return { id, orgId, connector: 'files_1', scheduleId: id, revision: 1 } as const;
  }
  async function scheduleOnce(more: object = {}) {
    const schedule = await insertSchedule({
      scheduleType: 'once',
      scheduledTime: new Date(at).toISOString(),
      ...more,
    });
    const job = {
      id: onceJobId(schedule.id, 1),
      attemptsMade: 0,
      data: { ...schedule, kind: 'once', at },
    } as unknown as CrawlJob;
    return { ...schedule, job };
  }
  async function scheduleDaily() {
    const schedule = await insertSchedule({ scheduleType: 'daily', hour: 0, minute: 0 });
    const opts = { repeat: { pattern: '0 0 * * *', tz: 'UTC' } };
    const job = (time: number, attemptsMade = 0) =>
      ({
        id: tickJobId('crawl', time),
        data: { ...schedule, kind: 'tick' },
        opts,
        attemptsMade,
      }) as unknown as CrawlJob;
    return { ...schedule, job };
  }
  const runsOf = async (id: string) =>
    (
      await pool.query<{ state: string; reason: string | null }>(
        'select state, reason from runs where schedule_id = $1 order by id',
        [id],
      )
    ).rows;

  it('no run begins once a pause was answered, however soon its job was looked at', async () => {
    const { id, job } = await scheduleOnce();
    const pausing = await pool.connect();
    await pausing.query('begin');
    await pausing.query(`update schedules set state = 'paused', next_run_at = null where id = $1`, [id]);
    const beginning = newLifecycle().begin(job);
    await waitForLock(pool);
    await pausing.query('commit');
    pausing.release();
    expect(await beginning).toBeUndefined();
    expect(await runsOf(id)).toEqual([]);
  });

  it('a one-off that is skipped ends with its schedule, or not at all', async () => {
    const { id, job } = await scheduleOnce({ missedRunPolicy: 'skip' });
    now += 2 * times.misfireGraceMs;
    await pool.query(
      `alter table schedules add constraint unbroken check (state <> 'finished' or id <> '${id}')`,
    );
    await expect(newLifecycle().begin(job)).rejects.toThrow('unbroken');
    expect(await runsOf(id)).toEqual([]);
    await pool.query('alter table schedules drop constraint unbroken');
    expect(await newLifecycle().begin(job)).toBeUndefined();
    expect(await runsOf(id)).toMatchObject([{ state: 'skipped' }]);
    const { rows } = await pool.query('select state from schedules where id = $1', [id]);
    expect(rows).toEqual([{ state: 'finished' }]);
  });

  it('a run whose schedule is gone is aborted when its job comes again', async () => {
    const { id, job } = await scheduleOnce();
    expect(await newLifecycle().begin(job)).toBeDefined();
    const { rows } = await pool.query<{ id: string }>('select id from runs where schedule_id = $1', [id]);
    await pool.query('delete from schedules where id = $1', [id]);
    now += 60_000;
    const again = { ...job, data: { ...job.data, kind: 'run', runId: rows[0]?.id ?? '' } } as CrawlJob;
    expect(await newLifecycle().begin(again)).toBeUndefined();
    expect(await runsOf(id)).toEqual([{ state: 'aborted', reason: 'The schedule was removed' }]);
  });

  it('a pause and the end of a one-off wait for one another, and never deadlock', async () => {
    const { id, job } = await scheduleOnce();
    const lifecycle = newLifecycle();
    const begun = await lifecycle.begin(job);
    if (!begun || 'busyUntil' in begun) throw new Error('not begun');
    const pausing = await pool.connect();
    await pausing.query('begin');
    await pausing.query(`update schedules set state = 'paused', next_run_at = null where id = $1`, [id]);
    const completing = lifecycle.complete(begun);
    await waitForLock(pool);
    await pausing.query(`update runs set state = 'aborted' where schedule_id = $1`, [id]);
    await pausing.query('commit');
    pausing.release();
    expect(await completing).toBe(false);
    expect(await runsOf(id)).toMatchObject([{ state: 'aborted' }]);
    const events = await pool.query('select from sync_events.outbox where run_id = $1', [begun.run.id]);
    expect(events.rowCount).toBe(0);
  });

  it('a run in hands that renew its lease is left to them, however often its job is delivered', async () => {
    const { id, job } = await scheduleOnce();
    const begun = await newLifecycle().begin(job);
    now += times.leaseMs - 1;
    expect(await newLifecycle().begin(job)).toMatchObject({ busyUntil: at + times.leaseMs });
    if (!begun || 'busyUntil' in begun) throw new Error('not begun');
    expect(await newLifecycle().complete(begun)).toBe(true);
    expect(await runsOf(id)).toMatchObject([{ state: 'completed' }]);
  });

  it('a worker that lost its run to another changes nothing of it any more', async () => {
    const { id, job } = await scheduleOnce();
    const lifecycle = newLifecycle();
    const first = await lifecycle.begin(job);
    now += times.leaseMs + 1;
    const second = await lifecycle.begin(job);
    if (!first || !second || 'busyUntil' in first || 'busyUntil' in second) throw new Error('not begun');
    expect(await lifecycle.fail(first, 'too late')).toBe('void');
    expect(await lifecycle.complete(first)).toBe(false);
    await lifecycle.handBack(first);
    expect(await renewLeases(pool, [first.run, second.run], new Date(now + 1))).toEqual(
      new Set([second.run]),
    );
    expect(await runsOf(id)).toEqual([{ state: 'active', reason: null }]);
    const progressAfter = async ({ run }: typeof first) => {
      await saveProgress(pool, run, 50);
      const { rows } = await pool.query('select progress from runs where schedule_id = $1', [id]);
      return rows[0]?.progress as number;
    };
    expect([await progressAfter(first), await progressAfter(second)]).toEqual([10, 50]);
    expect(await lifecycle.complete(second)).toBe(true);
  });

  it('writes whose answer was lost are repeated without harm to whoever has the run since', async () => {
    const { id, job } = await scheduleOnce();
    const lifecycle = newLifecycle();
    const first = await lifecycle.begin(job);
    if (!first || 'busyUntil' in first) throw new Error('not begun');
    await lifecycle.handBack(first);
    await lifecycle.handBack(first);
    const second = await lifecycle.begin(job);
    if (!second || 'busyUntil' in second) throw new Error('not begun again');
    expect(second.run.attempts).toBe(1);
    await lifecycle.handBack(first);
    expect(await runsOf(id)).toEqual([{ state: 'active', reason: null }]);
    expect(await lifecycle.fail(second, 'away')).toBe('retry');
    expect(await lifecycle.fail(second, 'away')).toBe('retry');
    expect(await runsOf(id)).toEqual([{ state: 'retrying', reason: 'away' }]);
  });

  it('a finished one-off job that left the history is shown no longer', async () => {
    const { id, orgId, job } = await scheduleOnce();
    const lifecycle = newLifecycle();
    const begun = await lifecycle.begin(job);
    if (!begun || 'busyUntil' in begun) throw new Error('not begun');
    await lifecycle.complete(begun);
    expect((await findStatus(pool, orgId, 'files_1'))?.run?.state).toBe('completed');
    await pool.query('delete from runs where schedule_id = $1', [id]);
    expect(await findStatus(pool, orgId, 'files_1')).toBeUndefined();
    expect(await findStatuses(pool, orgId)).toEqual([]);
  });

  const countOf = async (orgId: string) =>
    (
      await pool.query<{ completed: number; events: number }>(
        `select coalesce((select completed from org_statistics where org_id = $1), 0)::int as completed,
           (select count(*) from sync_events.outbox where org_id = $1::text)::int as events`,
        [orgId],
      )
    ).rows[0];

  it('a tick in time is taken up in one statement, and its run, event and count are written in another', async () => {
    const { id, orgId, job } = await scheduleDaily();
    const lifecycle = newLifecycle();
    const statements = jest.spyOn(pg.Client.prototype, 'query');
    const chance = jest.spyOn(Math, 'random').mockReturnValue(1);
    const begun = await lifecycle.begin(job(at));
    if (!begun || 'busyUntil' in begun) throw new Error('not begun');
    expect(statements).toHaveBeenCalledTimes(1);
    expect(await lifecycle.complete(begun)).toBe(true);
    expect(statements).toHaveBeenCalledTimes(2);
    statements.mockRestore();
    chance.mockRestore();
    expect(begun.schedule).toMatchObject({ timeoutMs: 60_000, scheduledAt: new Date(at), metadata: null });
    expect((await findStatus(pool, orgId, 'files_1'))?.schedule.nextRunAt).toEqual(new Date(at + 86_400_000));
    expect(await runsOf(id)).toEqual([{ state: 'completed', reason: null }]);
    expect(await countOf(orgId)).toEqual({ completed: 1, events: 1 });
    const { rows } = await pool.query('select event_id from runs where schedule_id = $1', [id]);
    expect(rows).toEqual(
      (await pool.query('select event_id from sync_events.outbox where run_id = $1', [begun.run.id])).rows,
    );
    // The answer was lost, and the write repeated.
    expect(await lifecycle.complete(begun)).toBe(false);
    expect(await countOf(orgId)).toEqual({ completed: 1, events: 1 });
  });

  it('however many ticks of a schedule are due, the first that is taken up stands for them all', async () => {
    const { id, job } = await scheduleDaily();
    const lifecycle = newLifecycle();
    now += 10 * 86_400_000;
    const begun = await lifecycle.begin(job(at + 4 * 86_400_000));
    if (!begun || 'busyUntil' in begun) throw new Error('not begun');
    await lifecycle.complete(begun);
    for (const day of [2, 9]) expect(await lifecycle.begin(job(at + day * 86_400_000))).toBeUndefined();
    expect(await runsOf(id)).toMatchObject([{ state: 'completed' }]);
    expect(await lifecycle.begin(job(at + 11 * 86_400_000))).toBeDefined();
  });

  it('a tick that is skipped for being late stands for none that may still start', async () => {
    const every = { scheduleType: 'custom', cronExpression: '* * * * *', missedRunPolicy: 'skip' };
    const { id, ...schedule } = await insertSchedule(every);
    const job = (minute: number) =>
      ({
        id: tickJobId('crawl', at + minute * 60_000),
        data: { ...schedule, kind: 'tick' },
        opts: { repeat: { pattern: every.cronExpression, tz: 'UTC' } },
        attemptsMade: 0,
      }) as unknown as CrawlJob;
    const lifecycle = newLifecycle();
    now += times.misfireGraceMs + 90_000;
    expect(await lifecycle.begin(job(0))).toBeUndefined();
    expect(await lifecycle.begin(job(1))).toBeUndefined();
    expect(await lifecycle.begin(job(2))).toMatchObject({ run: { scheduledFor: new Date(at + 120_000) } });
    expect(await lifecycle.begin(job(6))).toBeUndefined();
    expect((await runsOf(id)).map(({ state }) => state).toSorted()).toEqual(['active', 'skipped']);
  });

  it('a retry of a tick takes up the run that there is, and tries to make none', async () => {
    const { job } = await scheduleDaily();
    const lifecycle = newLifecycle();
    const first = await lifecycle.begin(job(at));
    if (!first || 'busyUntil' in first) throw new Error('not begun');
    expect(await lifecycle.fail(first, 'away')).toBe('retry');
    const statements = jest.spyOn(pg.Client.prototype, 'query');
    const second = await lifecycle.begin(job(at, 1));
    const names = statements.mock.calls.map(([query]) => (query as { name?: string }).name);
    statements.mockRestore();
    expect(second).toMatchObject({ run: { id: first.run.id, attempts: 2 } });
    expect(names).not.toContain('insert_run');
  });

  it('a job of a schedule that moved on is done with after one look, without a lock', async () => {
    const { id, orgId, job } = await scheduleDaily();
    await pool.query('update schedules set revision = 2 where id = $1', [id]);
    const begun = await newLifecycle().begin(job(at, 1));
    const holder = await pool.connect();
    await holder.query('begin');
    await holder.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`${orgId}:files_1`]);
    expect([begun, await newLifecycle().begin(job(at))]).toEqual([undefined, undefined]);
    await holder.query('rollback');
    holder.release();
  });

  it('a tick that is delivered twice at once has one run', async () => {
    const { id, job } = await scheduleDaily();
    const begun = await Promise.all([1, 2, 3].map(() => newLifecycle().begin(job(at))));
    expect(begun.filter((one) => one && 'run' in one)).toHaveLength(1);
    expect(begun.filter((one) => one && 'busyUntil' in one)).toHaveLength(2);
    expect(await runsOf(id)).toEqual([{ state: 'active', reason: null }]);
  });

  it('a run that lost its worker lets neither an event out nor is it counted by the one that it left', async () => {
    const { id, orgId, job } = await scheduleDaily();
    const lifecycle = newLifecycle();
    const first = await lifecycle.begin(job(at));
    now += times.leaseMs + 1;
    const second = await lifecycle.begin(job(at));
    if (!first || !second || 'busyUntil' in first || 'busyUntil' in second) throw new Error('not begun');
    expect(second.run).toMatchObject({ id: first.run.id, takenUp: 2 });
    expect(await lifecycle.complete(first)).toBe(false);
    expect(await runsOf(id)).toEqual([{ state: 'active', reason: null }]);
    expect(await countOf(orgId)).toEqual({ completed: 0, events: 0 });
    expect(await lifecycle.complete(second)).toBe(true);
    expect(await countOf(orgId)).toEqual({ completed: 1, events: 1 });
  });

  it('a tick of a schedule that was replaced, paused or skips what is late has no run of its own', async () => {
    const { id, job } = await scheduleDaily();
    await pool.query('update schedules set revision = 2 where id = $1', [id]);
    expect(await newLifecycle().begin(job(at))).toBeUndefined();
    await pool.query(
      `update schedules set revision = 1, config = config || '{"missedRunPolicy": "skip"}' where id = $1`,
      [id],
    );
    now += times.misfireGraceMs + 1;
    expect(await newLifecycle().begin(job(at))).toBeUndefined();
    expect(await runsOf(id)).toEqual([
      { state: 'skipped', reason: 'Missed: it could have started only 300 s late' },
    ]);
    await pool.query(`update schedules set state = 'paused', next_run_at = null where id = $1`, [id]);
    expect(await newLifecycle().begin(job(at + 86_400_000))).toBeUndefined();
    expect(await runsOf(id)).toHaveLength(1);
  });

  it('a tick of a recurring schedule that finds a run in progress is skipped, and the history says so', async () => {
    const { id, orgId, job } = await scheduleDaily();
    const asked = await newLifecycle().begin(job(at));
    expect(asked).toBeDefined();
    expect(await newLifecycle().begin(job(at + 86_400_000))).toBeUndefined();
    expect(await runsOf(id)).toEqual([
      { state: 'active', reason: null },
      { state: 'skipped', reason: 'The run before was still in progress' },
    ]);
    const status = await findStatus(pool, orgId, 'files_1');
    expect([status?.run?.state, status?.schedule.nextRunAt]).toEqual([
      'active',
      new Date(at + 2 * 86_400_000),
    ]);
  });

  it('late schedules are read page by page, those of one instant, too', async () => {
    const late = [await scheduleOnce(), await scheduleOnce(), await scheduleOnce()].map(({ id }) => id);
    const found: string[] = [];
    for (let last: ExpectedJob | undefined; found.length < 100;) {
      const page = await findOverdue(pool, new Date(at + 1), last, 1);
      found.push(...page.map(({ id }) => id));
      last = page.at(-1);
      if (!last) break;
    }
    expect(found).toEqual(expect.arrayContaining(late));
    expect(new Set(found).size).toBe(found.length);
  });

  it('the reconciler reads of each row what it compares, not its configuration', async () => {
    await scheduleOnce();
    const pages = [
      await findOverdue(pool, new Date(at + 1), undefined, 1),
      await findActivePage(pool, 'files_1', '00000000-0000-0000-0000-000000000000', 1),
    ];
    const read = ['connector', 'id', 'isRecurring', 'nextRunAt', 'orgId', 'revision'];
    for (const [row] of pages) expect(Object.keys(row ?? {}).toSorted()).toEqual(read);
  });
});

/** Until a statement waits for another. */
async function waitForLock(pool: pg.Pool): Promise<void> {
  await waitFor(
    async () =>
      (await pool.query(`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`))
        .rowCount === 1,
    { what: 'a statement that waits' },
  ); // prettier-ignore
}
