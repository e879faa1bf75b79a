import { mayCancelAttempt, renewLeases, saveProgress } from '../../src/db/claimed-runs.js';
import { requeueLost } from '../../src/db/lost-runs.js';
import { stopSchedules } from '../../src/db/schedules.js';
import type { ClaimedRun } from '../../src/engine/claimed-run.js';
import type { CrawlJob } from '../../src/queue/job.js';
import { at, expectClaimed, times, useRunRows } from '../support/run-rows.js';

/* Runs whose claims, writes and pauses are concurrent or late. */

describe('races of a run', () => {
  const rows = useRunRows();

  it('no run starts after a pause was committed, even if its job was being claimed', async () => {
    const { id, job } = await rows.scheduleOnce();
    const pausing = await rows.pool.connect();
    await pausing.query('begin');
    await pausing.query(`update schedules set state = 'paused', next_run_at = null where id = $1`, [id]);
    const beginning = rows.newLifecycle().claim(job);
    await rows.waitForLock();
    await pausing.query('commit');
    pausing.release();
    expect(await beginning).toBeUndefined();
    expect(await rows.getRuns(id)).toEqual([]);
  });

  it('a run whose schedule was removed is aborted when its job is delivered again', async () => {
    const { id, job } = await rows.scheduleOnce();
    expect(await rows.newLifecycle().claim(job)).toBeDefined();
    const found = await rows.pool.query<{ id: string }>('select id from runs where schedule_id = $1', [id]);
    await rows.pool.query('delete from schedules where id = $1', [id]);
    rows.now += 60_000;
    const again = { ...job, data: { ...job.data, kind: 'run', runId: found.rows[0]?.id ?? '' } } as CrawlJob;
    expect(await rows.newLifecycle().claim(again)).toBeUndefined();
    expect(await rows.getRuns(id)).toEqual([{ state: 'aborted', reason: 'The schedule was removed' }]);
  });

  it('a pause and the completion of a one-off run wait for each other without a deadlock', async () => {
    const { id, job } = await rows.scheduleOnce();
    const lifecycle = rows.newLifecycle();
    const claimed = expectClaimed(await lifecycle.claim(job));
    const pausing = await rows.pool.connect();
    await pausing.query('begin');
    await pausing.query(`update schedules set state = 'paused', next_run_at = null where id = $1`, [id]);
    const completing = lifecycle.complete(claimed);
    await rows.waitForLock();
    await pausing.query(`update runs set state = 'aborted' where schedule_id = $1`, [id]);
    await pausing.query('commit');
    pausing.release();
    expect(await completing).toBe(false);
    expect(await rows.getRuns(id)).toMatchObject([{ state: 'aborted' }]);
    const events = await rows.pool.query('select from sync_events.outbox where run_id = $1', [
      claimed.run.id,
    ]);
    expect(events.rowCount).toBe(0);
  });

  it('a run whose lease is held is not claimed by another worker when its job is delivered again', async () => {
    const { id, job } = await rows.scheduleOnce();
    const claimed = expectClaimed(await rows.newLifecycle().claim(job));
    rows.now += times.leaseMs - 1;
    expect(await rows.newLifecycle().claim(job)).toMatchObject({ deferredUntil: at + times.leaseMs });
    expect(await rows.newLifecycle().complete(claimed)).toBe(true);
    expect(await rows.getRuns(id)).toMatchObject([{ state: 'completed' }]);
  });

  it('a worker that has lost its run to another no longer changes it', async () => {
    const { id, job } = await rows.scheduleOnce();
    const lifecycle = rows.newLifecycle();
    const first = expectClaimed(await lifecycle.claim(job));
    rows.now += times.leaseMs + 1;
    const second = expectClaimed(await lifecycle.claim(job));
    expect(await lifecycle.fail(first, 'too late')).toBe('void');
    expect(await lifecycle.complete(first)).toBe(false);
    await lifecycle.handBack(first);
    expect(await renewLeases(rows.pool, [first.run, second.run], new Date(rows.now + 1))).toEqual(
      new Set([second.run]),
    );
    expect(await rows.getRuns(id)).toEqual([{ state: 'active', reason: null }]);
    const progressAfter = async ({ run }: typeof first) => {
      await saveProgress(rows.pool, run, 50);
      const found = await rows.pool.query('select progress from runs where schedule_id = $1', [id]);
      return found.rows[0]?.progress as number;
    };
    expect([await progressAfter(first), await progressAfter(second)]).toEqual([10, 50]);
    expect(await lifecycle.complete(second)).toBe(true);
  });

  it('only the worker that follows the task of an attempt may cancel it', async () => {
    const { job } = await rows.scheduleDaily();
    const lifecycle = rows.newLifecycle();
    const mayCancel = ({ run }: ClaimedRun) => mayCancelAttempt(rows.pool, run);
    const first = expectClaimed(await lifecycle.claim(job(at)));
    expect(await mayCancel(first)).toBe(true);
    // The lease expires, and another worker claims the run.
    rows.now += times.leaseMs + 1;
    const second = expectClaimed(await lifecycle.claim(job(at)));
    expect([await mayCancel(first), await mayCancel(second)]).toEqual([false, true]);
    // The run is released: the next worker continues the same task.
    await lifecycle.handBack(second);
    expect([await mayCancel(first), await mayCancel(second)]).toEqual([false, false]);
    // Nobody continues a failed attempt, and the next attempt has another task.
    const third = expectClaimed(await lifecycle.claim(job(at)));
    await lifecycle.fail(third, 'too late');
    expect(await mayCancel(third)).toBe(true);
    const fourth = expectClaimed(await lifecycle.claim(job(at, 1)));
    expect([await mayCancel(third), await mayCancel(fourth)]).toEqual([true, true]);
    await rows.pool.query(`update runs set state = 'aborted' where id = $1`, [fourth.run.id]);
    expect(await mayCancel(fourth)).toBe(true);
  });

  it('no worker cancels the task of a run that was lost and queued again', async () => {
    const { job } = await rows.scheduleDaily();
    const first = expectClaimed(await rows.newLifecycle().claim(job(at)));
    rows.now += times.leaseMs + 1;
    const until = new Date(rows.now + 60_000);
    await requeueLost(rows.pool, first.run, { now: new Date(rows.now), until, jobId: 'again' });
    expect(await mayCancelAttempt(rows.pool, first.run)).toBe(false);
  });

  it.each(['paused', 'removed'] as const)(
    'a worker that lost its run cancels the task when the schedule is %s before another worker claims the run',
    async (to) => {
      const { orgId, connector, job } = await rows.scheduleDaily();
      const first = expectClaimed(await rows.newLifecycle().claim(job(at)));
      rows.now += times.leaseMs + 1;
      const [now, until] = [new Date(rows.now), new Date(rows.now + 60_000)];
      await requeueLost(rows.pool, first.run, { now, until, jobId: 'again' });
      expect(await stopSchedules(rows.pool, to, { orgId, connector, at: now })).toBe(true);
      expect(await mayCancelAttempt(rows.pool, first.run)).toBe(true);
    },
  );

  it('a worker that has lost its run leaves the cancellation to the next worker when the schedule is paused', async () => {
    const { orgId, connector, job } = await rows.scheduleDaily();
    const first = expectClaimed(await rows.newLifecycle().claim(job(at)));
    rows.now += times.leaseMs + 1;
    const second = expectClaimed(await rows.newLifecycle().claim(job(at)));
    await stopSchedules(rows.pool, 'paused', { orgId, connector, at: new Date(rows.now) });
    const mayCancel = ({ run }: ClaimedRun) => mayCancelAttempt(rows.pool, run);
    expect([await mayCancel(first), await mayCancel(second)]).toEqual([false, true]);
  });

  it('repeating a write whose result was lost does not affect the worker that has claimed the run since', async () => {
    const { id, job } = await rows.scheduleOnce();
    const lifecycle = rows.newLifecycle();
    const first = expectClaimed(await lifecycle.claim(job));
    await lifecycle.handBack(first);
    await lifecycle.handBack(first);
    const second = expectClaimed(await lifecycle.claim(job));
    expect(second.run.attempts).toBe(1);
    await lifecycle.handBack(first);
    expect(await rows.getRuns(id)).toEqual([{ state: 'active', reason: null }]);
    expect(await lifecycle.fail(second, 'away')).toBe('retry');
    expect(await lifecycle.fail(second, 'away')).toBe('retry');
    expect(await rows.getRuns(id)).toEqual([{ state: 'retrying', reason: 'away' }]);
  });

  it('a tick that is delivered several times at once starts one run', async () => {
    const { id, job } = await rows.scheduleDaily();
    const claimed = await Promise.all([1, 2, 3].map(() => rows.newLifecycle().claim(job(at))));
    expect(claimed.filter((one) => one && 'run' in one)).toHaveLength(1);
    expect(claimed.filter((one) => one && 'deferredUntil' in one)).toHaveLength(2);
    expect(await rows.getRuns(id)).toEqual([{ state: 'active', reason: null }]);
  });

  it('a worker that has lost its run neither publishes its event nor counts it', async () => {
    const { id, orgId, job } = await rows.scheduleDaily();
    const lifecycle = rows.newLifecycle();
    const first = expectClaimed(await lifecycle.claim(job(at)));
    rows.now += times.leaseMs + 1;
    const second = expectClaimed(await lifecycle.claim(job(at)));
    expect(second.run).toMatchObject({ id: first.run.id, claimCount: 2 });
    expect(await lifecycle.complete(first)).toBe(false);
    expect(await rows.getRuns(id)).toEqual([{ state: 'active', reason: null }]);
    expect(await rows.getCount(orgId)).toEqual({ completed: 0, events: 0 });
    expect(await lifecycle.complete(second)).toBe(true);
    expect(await rows.getCount(orgId)).toEqual({ completed: 1, events: 1 });
  });
});
