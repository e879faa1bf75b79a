import { DAY_MS } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { cancelRun } from '../../src/db/cancel-run.js';
import { readBacklog } from '../../src/db/dispatch.js';
import { type DueRun, insertRequestedRun } from '../../src/db/runs.js';
import { findStatus, findStatuses } from '../../src/db/schedule-status.js';
import { pauseSchedule } from '../../src/db/schedules.js';
import { at, expectClaimed, filesOf, times, useRunRows } from '../support/run-rows.js';

/* The runs that the dispatcher makes of due schedules. */

describe('ticks', () => {
  const rows = useRunRows();

  it('a run is claimed with one statement, and its end, event and counts are written with another', async () => {
    const { id, orgId, deliver } = await rows.scheduleDaily();
    const lifecycle = rows.newLifecycle();
    const delivery = await deliver();
    if (!delivery) throw new Error('not delivered');
    const statements = jest.spyOn(pg.Client.prototype, 'query');
    const chance = jest.spyOn(Math, 'random').mockReturnValue(1);
    const run = expectClaimed(await lifecycle.claim(delivery));
    expect(statements).toHaveBeenCalledTimes(1);
    expect(await lifecycle.complete(run)).toBe(true);
    expect(statements).toHaveBeenCalledTimes(2);
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

  it('several dispatchers at once make one run of each tick', async () => {
    const schedules = await Promise.all(Array.from({ length: 20 }, () => rows.scheduleDaily()));
    const delivered = (await Promise.all([1, 2, 3].map(() => rows.dispatch()))).flat();
    expect(delivered.map(({ orgId }) => orgId).toSorted()).toEqual(
      schedules.map(({ orgId }) => orgId).toSorted(),
    );
  });

  it('runs of workers that pull are made and delivered again while the queue is unavailable, others afterwards', async () => {
    const pulled = await rows.scheduleDaily();
    const queued = await rows.scheduleDaily();
    await rows.pool.query(`update schedules set worker = 'pull' where id = $1`, [pulled.id]);
    const getOrgs = async (isQueueAway: boolean) =>
      (await rows.dispatch(isQueueAway)).map(({ orgId }) => orgId).filter((id) => ours.includes(id));
    const ours: string[] = [pulled.orgId, queued.orgId];
    expect(await getOrgs(true)).toEqual([pulled.orgId]);
    rows.now += 60_000;
    expect(await getOrgs(true)).toEqual([pulled.orgId]);
    expect(await getOrgs(false)).toEqual([queued.orgId]);
  });

  it('the queue has one run of the instances of a connector at a time, and the next one when that has left it', async () => {
    const schedules = [await rows.scheduleDaily(), await rows.scheduleDaily(), await rows.scheduleDaily()];
    const other = await rows.scheduleDaily();
    const orgId = other.id;
    for (const [index, { id }] of schedules.entries())
      await rows.pool.query('update schedules set org_id = $2, instance = $3, connector = $4 where id = $1', [
        id,
        orgId,
        `wiki-${index}`,
        'wiki_1',
      ]);
    const lifecycle = rows.newLifecycle();
    const deliver = async () => (await rows.dispatch()).filter((run) => run.orgId === orgId);
    const deliverOne = async () => {
      const delivered = await deliver();
      expect(delivered).toHaveLength(1);
      return expectClaimed(await lifecycle.claim(delivered[0] as DueRun));
    };
    const round = await rows.dispatch();
    expect(round.filter((run) => run.orgId === other.orgId)).toHaveLength(1);
    const mine = round.filter((run) => run.orgId === orgId);
    expect(mine).toHaveLength(1);
    expect(await deliver()).toEqual([]);
    const first = expectClaimed(await lifecycle.claim(mine[0] as DueRun));
    expect(await deliver()).toEqual([]);
    // The first one waits for its next attempt, which is due while the queue has another one.
    expect(await lifecycle.fail(first, 'no')).toBe('retry');
    const second = await deliverOne();
    expect(second.id).not.toBe(first.id);
    rows.now += times.retryDelayMs;
    expect(await deliver()).toEqual([]);
    await lifecycle.complete(second);
    expect((await deliverOne()).id).toBe(first.id);
    const request = {
      id: uuidv7(),
      scheduleId: second.scheduleId,
      at: new Date(rows.now),
      requestId: 'r',
      mode: undefined,
      requestedBy: { id: orgId, name: 'Ada' },
    };
    const again = await insertRequestedRun(rows.pool, request, null);
    expect(again).toMatchObject({ isHeldBack: true });
    expect(await findStatus(rows.pool, second)).toMatchObject({
      run: { state: 'waiting' },
      // The active one, and the third instance, which was held back before it.
      runsAhead: 2,
    });
    expect((await findStatuses(rows.pool, orgId)).map(({ runsAhead }) => runsAhead)).toEqual([0, 0, 0]);
    await pauseSchedule(rows.pool, { ...first, at: new Date(rows.now) }, null);
    const third = await deliverOne();
    await lifecycle.complete(third);
    expect((await deliverOne()).id).toBe(again?.id);
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
    const { id, deliver } = await rows.scheduleOnce({ missedRunPolicy: 'skip' });
    rows.now += 2 * times.misfireGraceMs;
    await rows.pool.query(
      `alter table schedules add constraint unbroken check (state <> 'finished' or id <> '${id}')`,
    );
    await expect(deliver()).rejects.toThrow('unbroken');
    expect(await rows.getRuns(id)).toEqual([]);
    await rows.pool.query('alter table schedules drop constraint unbroken');
    expect(await deliver()).toBeUndefined();
    expect(await rows.getRuns(id)).toMatchObject([{ state: 'skipped' }]);
    const found = await rows.pool.query('select state from schedules where id = $1', [id]);
    expect(found.rows).toEqual([{ state: 'finished' }]);
  });

  it('when several times of a schedule have passed, one run stands for all of them and counts as missed', async () => {
    const { id, orgId, claim, deliver } = await rows.scheduleDaily();
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
    expect(await deliver()).toBeUndefined();
    expect(await rows.getRuns(id)).toMatchObject([{ state: 'completed' }]);
    expect((await findStatus(rows.pool, filesOf(orgId)))?.schedule).toMatchObject({
      missedRuns: 1,
      nextRunAt: new Date(at + 11 * DAY_MS),
    });
  });

  it('a tick that is skipped because it is late does not skip ticks that may still start', async () => {
    const { id, orgId, deliver } = await rows.scheduleMinutely({ missedRunPolicy: 'skip' });
    rows.now += times.misfireGraceMs + 90_000;
    expect(await deliver()).toBeUndefined();
    const next = await deliver();
    expect(next && (await rows.newLifecycle().claim(next))).toMatchObject({
      scheduledFor: new Date(at + 120_000),
    });
    expect((await rows.getRuns(id)).map(({ state }) => state).toSorted()).toEqual(['active', 'skipped']);
    expect((await findStatus(rows.pool, filesOf(orgId)))?.schedule.nextRunAt).toEqual(new Date(at + 420_000));
  });

  it('a run that waited too long for a worker is skipped when its schedule skips missed runs', async () => {
    const { id, deliver } = await rows.scheduleMinutely({ missedRunPolicy: 'skip' });
    const delivery = await deliver();
    rows.now += times.misfireGraceMs + 1;
    expect(delivery && (await rows.newLifecycle().claim(delivery))).toBeUndefined();
    expect(await rows.getRuns(id)).toEqual([
      { state: 'skipped', reason: 'Missed: it would have started 300 s late' },
    ]);
  });

  it('a retry is delivered when its back-off is over, and keeps the order of its run', async () => {
    const { id, claim, deliver } = await rows.scheduleDaily();
    const first = await claim();
    expect(await rows.newLifecycle().fail(first, 'unavailable')).toBe('retry');
    await rows.pool.query(`update schedules set metadata = '{"is": "new"}', revision = 2 where id = $1`, [
      id,
    ]);
    rows.now += times.retryDelayMs - 1;
    expect(await deliver()).toBeUndefined();
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
    const { id, orgId, claim, deliver } = await rows.scheduleDaily();
    const run = await claim();
    await rows.pool.query('update runs set heartbeat_until = $2 where id = $1', [
      run.id,
      new Date(at + 2 * DAY_MS),
    ]);
    rows.now += DAY_MS;
    expect(await deliver()).toBeUndefined();
    expect(await rows.getRuns(id)).toEqual([
      { state: 'active', reason: null },
      { state: 'skipped', reason: 'The previous run was still in progress' },
    ]);
    const status = await findStatus(rows.pool, filesOf(orgId));
    expect([status?.run?.state, status?.schedule.nextRunAt]).toEqual(['active', new Date(at + 2 * DAY_MS)]);
  });

  it('a one-off schedule waits until the run before it has ended', async () => {
    const { id, deliver, claim } = await rows.scheduleOnce();
    const before = await claim();
    await rows.pool.query('update schedules set next_run_at = $2, revision = 2 where id = $1', [
      id,
      new Date(at),
    ]);
    rows.now += 1_000;
    expect(await deliver()).toBeUndefined();
    await rows.newLifecycle().complete(before);
    expect(await deliver()).toBeDefined();
    expect(await rows.getRuns(id)).toMatchObject([{ state: 'completed' }, { state: 'waiting' }]);
  });

  it('a one-off schedule is finished when its run is cancelled', async () => {
    const { id, orgId, claim, deliver } = await rows.scheduleOnce();
    const { id: runId } = await claim();
    expect(await cancelRun(rows.pool, { ...filesOf(orgId), runId }, new Date(rows.now), null)).toBe(true);
    const found = await rows.pool.query('select state from schedules where id = $1', [id]);
    expect(found.rows).toEqual([{ state: 'finished' }]);
    expect(await deliver()).toBeUndefined();
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
