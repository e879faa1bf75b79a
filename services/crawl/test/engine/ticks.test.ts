import pg from 'pg';
import { findStatus } from '../../src/db/schedule-status.js';
import { at, expectClaimed, times, useRunRows } from '../support/run-rows.js';

/* What a tick reads and writes, and when it starts a run. */

describe('ticks', () => {
  const rows = useRunRows();

  it('a tick in time is claimed with one statement, and its run, event and count are written with another', async () => {
    const { id, orgId, job } = await rows.scheduleDaily();
    const lifecycle = rows.newLifecycle();
    const statements = jest.spyOn(pg.Client.prototype, 'query');
    const chance = jest.spyOn(Math, 'random').mockReturnValue(1);
    const claimed = expectClaimed(await lifecycle.claim(job(at)));
    expect(statements).toHaveBeenCalledTimes(1);
    expect(await lifecycle.complete(claimed)).toBe(true);
    expect(statements).toHaveBeenCalledTimes(2);
    statements.mockRestore();
    chance.mockRestore();
    expect(claimed.schedule).toMatchObject({ timeoutMs: 60_000, scheduledAt: new Date(at), metadata: null });
    expect((await findStatus(rows.pool, orgId, 'files_1'))?.schedule.nextRunAt).toEqual(
      new Date(at + 86_400_000),
    );
    expect(await rows.getRuns(id)).toEqual([{ state: 'completed', reason: null }]);
    expect(await rows.getCount(orgId)).toEqual({ completed: 1, events: 1 });
    const found = await rows.pool.query('select event_id from runs where schedule_id = $1', [id]);
    expect(found.rows).toEqual(
      (await rows.pool.query('select event_id from sync_events.outbox where run_id = $1', [claimed.run.id]))
        .rows,
    );
    // The write is repeated because its result was lost.
    expect(await lifecycle.complete(claimed)).toBe(false);
    expect(await rows.getCount(orgId)).toEqual({ completed: 1, events: 1 });
  });

  it('a skipped one-off run and the end of its schedule are written together', async () => {
    const { id, job } = await rows.scheduleOnce({ missedRunPolicy: 'skip' });
    rows.now += 2 * times.misfireGraceMs;
    await rows.pool.query(
      `alter table schedules add constraint unbroken check (state <> 'finished' or id <> '${id}')`,
    );
    await expect(rows.newLifecycle().claim(job)).rejects.toThrow('unbroken');
    expect(await rows.getRuns(id)).toEqual([]);
    await rows.pool.query('alter table schedules drop constraint unbroken');
    expect(await rows.newLifecycle().claim(job)).toBeUndefined();
    expect(await rows.getRuns(id)).toMatchObject([{ state: 'skipped' }]);
    const found = await rows.pool.query('select state from schedules where id = $1', [id]);
    expect(found.rows).toEqual([{ state: 'finished' }]);
  });

  it('when several ticks of a schedule are due, the first that is claimed runs for all of them', async () => {
    const { id, job } = await rows.scheduleDaily();
    const lifecycle = rows.newLifecycle();
    rows.now += 10 * 86_400_000;
    const claimed = expectClaimed(await lifecycle.claim(job(at + 4 * 86_400_000)));
    await lifecycle.complete(claimed);
    for (const day of [2, 9]) expect(await lifecycle.claim(job(at + day * 86_400_000))).toBeUndefined();
    expect(await rows.getRuns(id)).toMatchObject([{ state: 'completed' }]);
    expect(await lifecycle.claim(job(at + 11 * 86_400_000))).toBeDefined();
  });

  it('a tick that is skipped because it is late does not skip those that may still start', async () => {
    const { id, job: getJob } = await rows.scheduleMinutely({ missedRunPolicy: 'skip' });
    const job = (minute: number) => getJob(at + minute * 60_000);
    const lifecycle = rows.newLifecycle();
    rows.now += times.misfireGraceMs + 90_000;
    expect(await lifecycle.claim(job(0))).toBeUndefined();
    expect(await lifecycle.claim(job(1))).toBeUndefined();
    expect(await lifecycle.claim(job(2))).toMatchObject({ run: { scheduledFor: new Date(at + 120_000) } });
    expect(await lifecycle.claim(job(6))).toBeUndefined();
    expect((await rows.getRuns(id)).map(({ state }) => state).toSorted()).toEqual(['active', 'skipped']);
  });

  it('a retry of a tick claims its run and does not try to insert another', async () => {
    const { job } = await rows.scheduleDaily();
    const lifecycle = rows.newLifecycle();
    const first = expectClaimed(await lifecycle.claim(job(at)));
    expect(await lifecycle.fail(first, 'away')).toBe('retry');
    const statements = jest.spyOn(pg.Client.prototype, 'query');
    const second = await lifecycle.claim(job(at, 1));
    const names = statements.mock.calls.map(([query]) => (query as { name?: string }).name);
    statements.mockRestore();
    expect(second).toMatchObject({ run: { id: first.run.id, attempts: 2 } });
    expect(names).not.toContain('insert_run');
  });

  it('a job of an earlier revision ends after one query, without a lock', async () => {
    const { id, orgId, job } = await rows.scheduleDaily();
    await rows.pool.query('update schedules set revision = 2 where id = $1', [id]);
    const claimed = await rows.newLifecycle().claim(job(at, 1));
    const holder = await rows.pool.connect();
    await holder.query('begin');
    await holder.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`${orgId}:files_1`]);
    expect([claimed, await rows.newLifecycle().claim(job(at))]).toEqual([undefined, undefined]);
    await holder.query('rollback');
    holder.release();
  });

  it('a tick of a replaced or paused schedule, or a late one of a schedule that skips missed runs, starts no run', async () => {
    const { id, job } = await rows.scheduleDaily();
    await rows.pool.query('update schedules set revision = 2 where id = $1', [id]);
    expect(await rows.newLifecycle().claim(job(at))).toBeUndefined();
    await rows.pool.query(
      `update schedules set revision = 1, config = config || '{"missedRunPolicy": "skip"}' where id = $1`,
      [id],
    );
    rows.now += times.misfireGraceMs + 1;
    expect(await rows.newLifecycle().claim(job(at))).toBeUndefined();
    expect(await rows.getRuns(id)).toEqual([
      { state: 'skipped', reason: 'Missed: it would have started 300 s late' },
    ]);
    await rows.pool.query(`update schedules set state = 'paused', next_run_at = null where id = $1`, [id]);
    expect(await rows.newLifecycle().claim(job(at + 86_400_000))).toBeUndefined();
    expect(await rows.getRuns(id)).toHaveLength(1);
  });

  it('a tick during a run in progress is skipped, and the history says so', async () => {
    const { id, orgId, job } = await rows.scheduleDaily();
    const asked = await rows.newLifecycle().claim(job(at));
    expect(asked).toBeDefined();
    expect(await rows.newLifecycle().claim(job(at + 86_400_000))).toBeUndefined();
    expect(await rows.getRuns(id)).toEqual([
      { state: 'active', reason: null },
      { state: 'skipped', reason: 'The previous run was still in progress' },
    ]);
    const status = await findStatus(rows.pool, orgId, 'files_1');
    expect([status?.run?.state, status?.schedule.nextRunAt]).toEqual([
      'active',
      new Date(at + 2 * 86_400_000),
    ]);
  });
});
