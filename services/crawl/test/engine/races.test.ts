import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { renewLeases, saveProgress } from '../../src/db/claimed-runs.js';
import { saveInstance } from '../../src/db/instances.js';
import { findSchedule, removeSchedules, upsertSchedule } from '../../src/db/schedules.js';
import { at, expectClaimed, filesOf, times, toNewSchedule, useRunRows } from '../support/run-rows.js';

/* Runs whose claims, writes and pauses are concurrent or late. */

/** Counts the updates of the transaction: all, and updates that changed no index. */
async function readUpdates(tx: pg.PoolClient): Promise<{ all: number; withoutIndex: number }> {
  const { rows } = await tx.query<{ all: number; withoutIndex: number }>(
    `select n_tup_upd::int as all, n_tup_hot_upd::int as "withoutIndex" from pg_stat_xact_user_tables where relname = 'runs'`,
  );
  return rows[0] ?? { all: NaN, withoutIndex: NaN };
}

describe('races of a run', () => {
  const rows = useRunRows();

  it('no run is made while a pause is being committed, nor after it', async () => {
    const { id, dispatch } = await rows.scheduleOnce();
    const pausing = await rows.pool.connect();
    await pausing.query('begin');
    await pausing.query(`update schedules set state = 'paused', next_run_at = null where id = $1`, [id]);
    expect(await dispatch()).toBeUndefined();
    await pausing.query('commit');
    pausing.release();
    expect(await dispatch()).toBeUndefined();
    expect(await rows.getRuns(id)).toEqual([]);
  });

  it('a run in progress is aborted with the removal of its schedule, and its worker notices', async () => {
    const { id, orgId, claim } = await rows.scheduleDaily();
    const run = await claim();
    await removeSchedules(rows.pool, { orgId, at: new Date(rows.now) }, null);
    expect(await rows.getRuns(id)).toEqual([{ state: 'aborted', reason: 'The schedule was removed' }]);
    expect(await renewLeases(rows.pool, [run], new Date(rows.now + 1))).toEqual(new Set());
    expect(await rows.newLifecycle().complete(run)).toBe(false);
  });

  it('a pause and the completion of a one-off run wait for each other without a deadlock', async () => {
    const { id, claim } = await rows.scheduleOnce();
    const run = await claim();
    const pausing = await rows.pool.connect();
    await pausing.query('begin');
    await pausing.query(`update schedules set state = 'paused', next_run_at = null where id = $1`, [id]);
    const completing = rows.newLifecycle().complete(run);
    await rows.waitForLock();
    await pausing.query(`update runs set state = 'aborted', finished_at = now() where schedule_id = $1`, [
      id,
    ]);
    await pausing.query('commit');
    pausing.release();
    expect(await completing).toBe(false);
    expect(await rows.getRuns(id)).toMatchObject([{ state: 'aborted' }]);
    const events = await rows.pool.query('select from outbox.events where cause = $1', [run.id]);
    expect(events.rowCount).toBe(0);
  });

  it('a heartbeat and the removal of many schedules lock runs in the same order', async () => {
    const first = await (await rows.scheduleDaily()).claim();
    const second = await (await rows.scheduleDaily()).claim();
    // All runs are of one organisation, which has several connectors.
    await rows.pool.query(`update runs set org_id = $1, connector = 'wiki_1' where id = $2`, [
      first.orgId,
      second.id,
    ]);
    await rows.pool.query(`update schedules set org_id = $1, connector = 'wiki_1' where org_id = $2`, [
      first.orgId,
      second.orgId,
    ]);
    const holder = await rows.pool.connect();
    await holder.query('begin');
    await holder.query('select from runs where id = $1 for update', [second.id]);
    // Whoever is first has locked the first run, and waits for the second.
    const renewed = renewLeases(rows.pool, [second, first], new Date(rows.now + 1));
    await rows.waitForLock();
    const removed = removeSchedules(rows.pool, { orgId: first.orgId, at: new Date(rows.now) }, null);
    await holder.query('commit');
    holder.release();
    expect((await renewed).size).toBe(2);
    await removed;
    expect(await rows.getRuns(first.scheduleId)).toMatchObject([{ state: 'aborted' }]);
  });

  it('a schedule is not saved for an instance that is being removed', async () => {
    const key = { ...filesOf(randomUUID()), instance: 'second' };
    await saveInstance(rows.pool, key, { displayName: 'Second', ownerId: null }, null);
    const holder = await rows.pool.connect();
    await holder.query('begin');
    await holder.query('delete from connector_instances where org_id = $1', [key.orgId]);
    const saved = upsertSchedule(rows.pool, toNewSchedule(key), null);
    await rows.waitForLock();
    await holder.query('commit');
    holder.release();
    expect(await saved).toBeUndefined();
    expect(await findSchedule(rows.pool, key)).toBeUndefined();
  });

  it('a run whose lease is held is not claimed by another worker until the last heartbeat expires', async () => {
    const { dispatch, claim } = await rows.scheduleDaily();
    const run = await claim();
    rows.now += times.leaseMs - 1;
    expect(await rows.newLifecycle().claim('files_1')).toBeUndefined();
    const renewedUntil = at + 2 * times.leaseMs;
    await renewLeases(rows.pool, [run], new Date(renewedUntil));
    rows.now = renewedUntil - 1;
    expect(await dispatch()).toBeUndefined();
    rows.now = renewedUntil;
    expect(await claim()).toMatchObject({ id: run.id, claimCount: 2 });
  });

  it('a heartbeat changes no indexed column', async () => {
    const run = await (await rows.scheduleDaily()).claim();
    const tx = await rows.pool.connect();
    try {
      await tx.query('begin');
      const before = await readUpdates(tx);
      await renewLeases(tx, [run], new Date(at + times.leaseMs + 1_000));
      const after = await readUpdates(tx);
      expect([after.all - before.all, after.withoutIndex - before.withoutIndex]).toEqual([1, 1]);
    } finally {
      await tx.query('rollback');
      tx.release();
    }
  });

  it('a worker that has lost its run to another neither changes it, nor publishes its event, nor counts it', async () => {
    const { id, orgId, claim } = await rows.scheduleOnce();
    const lifecycle = rows.newLifecycle();
    const first = await claim();
    rows.now += times.leaseMs + 1;
    const second = await claim();
    expect(second).toMatchObject({ id: first.id, claimCount: 2, attempts: 1, recoveries: 1 });
    expect(await lifecycle.fail(first, 'too late')).toBe('void');
    expect(await lifecycle.complete(first)).toBe(false);
    await lifecycle.handBack(first);
    expect(await renewLeases(rows.pool, [first, second], new Date(rows.now + 1))).toEqual(new Set([second]));
    expect(await rows.getRuns(id)).toEqual([{ state: 'active', reason: null }]);
    const progressAfter = async (run: typeof first) => {
      await saveProgress(rows.pool, run, 50);
      const found = await rows.pool.query('select progress from runs where schedule_id = $1', [id]);
      return found.rows[0]?.progress as number;
    };
    expect([await progressAfter(first), await progressAfter(second)]).toEqual([10, 50]);
    expect(await rows.getCount(orgId)).toEqual({ completed: 0, events: 0 });
    expect(await lifecycle.complete(second)).toBe(true);
    expect(await rows.getCount(orgId)).toEqual({ completed: 1, events: 1 });
  });

  it('of any number of jobs of a connector that has one run, on two replicas, one claims it and completes it', async () => {
    const { dispatch } = await rows.scheduleMinutely();
    await dispatch();
    const replicas = [rows.newLifecycle(), rows.newLifecycle()];
    const jobs = [...replicas, ...replicas, ...replicas];
    const claimed = await Promise.all(jobs.map((lifecycle) => lifecycle.claim('files_1')));
    const [run, ...others] = claimed.filter((one) => one !== undefined);
    expect([run?.claimCount, others]).toEqual([1, []]);
    const first = expectClaimed(run);
    const ends = jobs.map((lifecycle, index) =>
      lifecycle.complete({ ...first, claimCount: 1 + (index % 2) }),
    );
    expect((await Promise.all(ends)).filter(Boolean)).toHaveLength(1);
    const { rows: events } = await rows.pool.query<{ is_its: boolean }>(
      `select event_id = (select event_id from runs where id = $1) as is_its from outbox.events where cause = $1::text`,
      [first.id],
    );
    expect(events).toEqual([{ is_its: true }]);
  });

  it('a run whose workers keep vanishing fails', async () => {
    const { id, claim, dispatch } = await rows.scheduleDaily();
    for (let count = 0; count < 4; count += 1) {
      await claim();
      rows.now += times.leaseMs + 1;
    }
    await dispatch();
    expect(await rows.newLifecycle().claim('files_1')).toBeUndefined();
    expect(await rows.getRuns(id)).toEqual([{ state: 'failed', reason: 'Lost its worker 4 times' }]);
  });

  it('repeating a write whose result was lost does not affect the worker that has claimed the run since', async () => {
    const { id, claim } = await rows.scheduleOnce();
    const lifecycle = rows.newLifecycle();
    const first = await claim();
    await lifecycle.handBack(first);
    await lifecycle.handBack(first);
    const second = await claim();
    expect(second.attempts).toBe(1);
    await lifecycle.handBack(first);
    expect(await rows.getRuns(id)).toEqual([{ state: 'active', reason: null }]);
    expect(await lifecycle.fail(second, 'unavailable')).toBe('retry');
    expect(await lifecycle.fail(second, 'unavailable')).toBe('retry');
    expect(await rows.getRuns(id)).toEqual([{ state: 'retrying', reason: 'unavailable' }]);
  });

  it('the time of an attempt goes on when another worker continues it', async () => {
    const { claim } = await rows.scheduleDaily();
    const first = await claim();
    rows.now += 20_000;
    await rows.newLifecycle().handBack(first);
    const second = await claim();
    rows.now += times.leaseMs + 1;
    const third = await claim();
    expect([second.deadlineAt, third.deadlineAt]).toEqual([first.deadlineAt, first.deadlineAt]);
    await rows.newLifecycle().fail(third, 'no');
    rows.now += times.retryDelayMs;
    expect((await claim()).deadlineAt?.getTime()).toBe(rows.now + 60_000);
  });
});
