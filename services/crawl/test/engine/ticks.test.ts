import { DAY_MS } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import pg from 'pg';
import { cancelRun } from '../../src/db/cancel-run.js';
import { readBacklog } from '../../src/db/dispatch.js';
import { findStatus } from '../../src/db/schedule-status.js';
import { at, expectClaimed, filesOf, times, useRunRows } from '../support/run-rows.js';

/* The runs that the dispatcher makes of due schedules. */

describe('ticks', () => {
  const rows = useRunRows();

  it('a run is claimed in one transaction, and its end, event and counts are written with one statement', async () => {
    const { id, orgId, dispatch } = await rows.scheduleDaily();
    const lifecycle = rows.newLifecycle();
    await dispatch();
    const statements = jest.spyOn(pg.Client.prototype, 'query');
    const chance = jest.spyOn(Math, 'random').mockReturnValue(1);
    const run = expectClaimed(await lifecycle.claim('files_1'));
    // With the lock of the connector's places, the begin and the commit.
    expect(statements).toHaveBeenCalledTimes(4);
    expect(await lifecycle.complete(run)).toBe(true);
    expect(statements).toHaveBeenCalledTimes(5);
    statements.mockRestore();
    chance.mockRestore();
    expect(run.parameters).toMatchObject({ timeoutMs: 60_000, scheduledAt: at, metadata: null });
    expect((await findStatus(rows.pool, filesOf(orgId)))?.schedule.nextRunAt).toEqual(new Date(at + DAY_MS));
    expect(await rows.getRuns(id)).toEqual([{ state: 'completed', reason: null }]);
    expect(await rows.getCount(orgId)).toEqual({ completed: 1, events: 1 });
    const found = await rows.pool.query('select event_id from runs where schedule_id = $1', [id]);
    expect(found.rows).toEqual(
      (await rows.pool.query('select event_id from outbox.events where cause = $1', [run.id])).rows,
    );
    // The write is repeated because its result was lost.
    expect(await lifecycle.complete(run)).toBe(false);
    expect(await rows.getCount(orgId)).toEqual({ completed: 1, events: 1 });
  });

  it('several dispatchers at once make one run of each tick, and announce each once', async () => {
    const schedules = await Promise.all(Array.from({ length: 20 }, () => rows.scheduleDaily()));
    const rounds = await Promise.all([1, 2, 3].map(() => rows.dispatch()));
    expect(rounds.reduce((sum, { announced }) => sum + (announced.get('files_1') ?? 0), 0)).toBe(20);
    for (const { id } of schedules) expect(await rows.getRuns(id)).toMatchObject([{ state: 'waiting' }]);
  });

  it('runs are made while the queue is unavailable, and can be claimed by workers that pull', async () => {
    const pulled = await rows.scheduleDaily();
    const queued = await rows.scheduleDaily();
    await rows.pool.query(`update schedules set worker = 'pull' where id = $1`, [pulled.id]);
    expect((await rows.dispatch(true)).pulled).toMatchObject([{ orgId: pulled.orgId }]);
    expect(await rows.getRuns(queued.id)).toMatchObject([{ state: 'waiting' }]);
  });

  it('pauses that end do not delay what is due', async () => {
    const [paused, due] = [await rows.scheduleDaily(), await rows.scheduleDaily()];
    await rows.pool.query(
      `update schedules set state = 'paused', next_run_at = null, paused_until = $2 where id = $1`,
      [paused.id, new Date(at)],
    );
    const holder = await rows.pool.connect();
    await holder.query('begin');
    await holder.query('select from schedules where id = $1 for update', [paused.id]);
    const dispatched = rows.dispatch();
    await rows.waitForLock();
    await waitFor(async () => (await rows.getRuns(due.id)).length === 1, { what: 'the run' });
    await holder.query('commit');
    holder.release();
    await dispatched;
    expect((await findStatus(rows.pool, filesOf(paused.orgId)))?.schedule.state).toBe('active');
  });

  it('a skipped one-off run and the end of its schedule are written together', async () => {
    const { id, dispatch } = await rows.scheduleOnce({ missedRunPolicy: 'skip' });
    rows.now += 2 * times.misfireGraceMs;
    await rows.pool.query(
      `alter table schedules add constraint unbroken check (state <> 'finished' or id <> '${id}')`,
    );
    await expect(dispatch()).rejects.toThrow('unbroken');
    expect(await rows.getRuns(id)).toEqual([]);
    await rows.pool.query('alter table schedules drop constraint unbroken');
    expect(await dispatch()).toBeUndefined();
    expect(await rows.getRuns(id)).toMatchObject([{ state: 'skipped' }]);
    const found = await rows.pool.query('select state from schedules where id = $1', [id]);
    expect(found.rows).toEqual([{ state: 'finished' }]);
  });

  it('when several times of a schedule have passed, one run stands for all of them and counts as missed', async () => {
    const { id, orgId, claim, dispatch } = await rows.scheduleDaily();
    const countMissed = async () => {
      const missed = /platform_crawl_missed_runs_total\{connector="files_1",policy="run_once"\} (\d+)/;
      return Number(missed.exec(await rows.registry.metrics())?.[1]);
    };
    const before = await countMissed();
    rows.now += 10 * DAY_MS + 1;
    const run = await claim();
    // Other schedules of these tests are due, too.
    expect(await countMissed()).toBeGreaterThan(before);
    expect(run).toMatchObject({ scheduledFor: new Date(at), trigger: 'missed' });
    await rows.newLifecycle().complete(run);
    expect(await dispatch()).toBeUndefined();
    expect(await rows.getRuns(id)).toMatchObject([{ state: 'completed' }]);
    expect((await findStatus(rows.pool, filesOf(orgId)))?.schedule).toMatchObject({
      missedRuns: 1,
      nextRunAt: new Date(at + 11 * DAY_MS),
    });
  });

  it('a tick that is skipped because it is late does not skip ticks that may still start', async () => {
    const { id, orgId, dispatch } = await rows.scheduleMinutely({ missedRunPolicy: 'skip' });
    rows.now += times.misfireGraceMs + 90_000;
    expect(await dispatch()).toBeUndefined();
    await dispatch();
    expect(await rows.newLifecycle().claim('files_1')).toMatchObject({
      scheduledFor: new Date(at + 120_000),
    });
    expect((await rows.getRuns(id)).map(({ state }) => state).toSorted()).toEqual(['active', 'skipped']);
    expect((await findStatus(rows.pool, filesOf(orgId)))?.schedule.nextRunAt).toEqual(new Date(at + 420_000));
  });

  it('a run that waited too long for a worker is skipped when its schedule skips missed runs', async () => {
    const { id, dispatch } = await rows.scheduleMinutely({ missedRunPolicy: 'skip' });
    await dispatch();
    rows.now += times.misfireGraceMs + 1;
    expect(await rows.newLifecycle().claim('files_1')).toBeUndefined();
    expect(await rows.getRuns(id)).toEqual([
      { state: 'skipped', reason: 'Missed: it would have started 300 s late' },
    ]);
  });

  it('a retry can be claimed when its back-off is over, and keeps the order of its run', async () => {
    const { id, claim, dispatch } = await rows.scheduleDaily();
    const first = await claim();
    expect(await rows.newLifecycle().fail(first, 'unavailable')).toBe('retry');
    await rows.pool.query(`update schedules set metadata = '{"is": "new"}', revision = 2 where id = $1`, [
      id,
    ]);
    rows.now += times.retryDelayMs - 1;
    expect(await dispatch()).toBeUndefined();
    rows.now += 1;
    const second = await claim();
    expect(second).toMatchObject({ id: first.id, attempts: 2 });
    expect(second.parameters).toEqual(first.parameters);
  });

  it('a reason with characters that PostgreSQL rejects is stored without them', async () => {
    const { id, claim } = await rows.scheduleDaily();
    await rows.newLifecycle().fail(await claim(), 'locked\0\ud800');
    expect(await rows.getRuns(id)).toEqual([{ state: 'retrying', reason: 'locked\ufffd' }]);
  });

  it('a tick during a run in progress is skipped, and the history says so', async () => {
    const { id, orgId, claim, dispatch } = await rows.scheduleDaily();
    const run = await claim();
    await rows.pool.query('update runs set heartbeat_until = $2 where id = $1', [
      run.id,
      new Date(at + 2 * DAY_MS),
    ]);
    rows.now += DAY_MS;
    expect(await dispatch()).toBeUndefined();
    expect(await rows.getRuns(id)).toEqual([
      { state: 'active', reason: null },
      { state: 'skipped', reason: 'The previous run was still in progress' },
    ]);
    const status = await findStatus(rows.pool, filesOf(orgId));
    expect([status?.run?.state, status?.schedule.nextRunAt]).toEqual(['active', new Date(at + 2 * DAY_MS)]);
  });

  it('a one-off schedule waits until the run before it has ended', async () => {
    const { id, dispatch, claim } = await rows.scheduleOnce();
    const before = await claim();
    await rows.pool.query('update schedules set next_run_at = $2, revision = 2 where id = $1', [
      id,
      new Date(at),
    ]);
    rows.now += 1_000;
    expect(await dispatch()).toBeUndefined();
    await rows.newLifecycle().complete(before);
    expect(await dispatch()).toBeDefined();
    expect(await rows.getRuns(id)).toMatchObject([{ state: 'completed' }, { state: 'waiting' }]);
  });

  it('a one-off schedule is finished when its run is cancelled', async () => {
    const { id, orgId, claim, dispatch } = await rows.scheduleOnce();
    const { id: runId } = await claim();
    expect(await cancelRun(rows.pool, { ...filesOf(orgId), runId }, new Date(rows.now), null)).toBe(true);
    const found = await rows.pool.query('select state from schedules where id = $1', [id]);
    expect(found.rows).toEqual([{ state: 'finished' }]);
    expect(await dispatch()).toBeUndefined();
  });

  it('runs that fail one after the other are counted until one completes', async () => {
    const { id, orgId, claim } = await rows.scheduleDaily();
    const lifecycle = rows.newLifecycle();
    const getHealth = async () => (await findStatus(rows.pool, filesOf(orgId)))?.health;
    for (const day of [1, 2, 3]) {
      expect(await lifecycle.fail({ ...(await claim()), attempts: 2 }, `no ${day}`)).toBe('failed');
      rows.now = at + day * DAY_MS;
    }
    expect(await getHealth()).toEqual({ consecutiveFailures: 3, lastFailure: 'no 3', lastCompletedAt: null });
    expect(
      (await readBacklog(rows.pool, { now: new Date(at), overdueBefore: new Date(at), failingAfter: 3 }))
        .failing,
    ).toBe(1);
    expect(await lifecycle.complete(await claim())).toBe(true);
    expect(await getHealth()).toEqual({
      consecutiveFailures: 0,
      lastFailure: null,
      lastCompletedAt: new Date(rows.now),
    });
    expect(await rows.getRuns(id)).toHaveLength(4);
  });
});
