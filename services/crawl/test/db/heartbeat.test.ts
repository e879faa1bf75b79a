import { renewLeases } from '../../src/db/claimed-runs.js';
import { findLost } from '../../src/db/lost-runs.js';
import { at, expectClaimed, times, useRunRows } from '../support/run-rows.js';

describe('the heartbeat of a run', () => {
  const rows = useRunRows();

  it('writes no indexed column', async () => {
    const { job } = await rows.scheduleDaily();
    const { run } = expectClaimed(await rows.newLifecycle().claim(job(at)));
    const tx = await rows.pool.connect();
    try {
      await tx.query('begin');
      for (let beat = 1; beat <= 5; beat += 1)
        expect(await renewLeases(tx, [run], new Date(at + times.leaseMs + beat * 1_000))).toEqual(
          new Set([run]),
        );
      const { rows: counts } = await tx.query(
        `select n_tup_upd::int as updated, n_tup_hot_upd::int as hot
         from pg_stat_xact_user_tables where relname = 'runs'`,
      );
      expect(counts).toEqual([{ updated: 5, hot: 5 }]);
    } finally {
      await tx.query('rollback');
      tx.release();
    }
  });

  it('prevents the run from being claimed by other workers or counted as lost', async () => {
    const { job } = await rows.scheduleDaily();
    const first = expectClaimed(await rows.newLifecycle().claim(job(at)));
    const isLost = async () =>
      (await findLost(rows.pool, new Date(rows.now), 500)).some(({ id }) => id === first.run.id);
    const renewedUntil = at + 2 * times.leaseMs;
    await renewLeases(rows.pool, [first.run], new Date(renewedUntil));
    rows.now = renewedUntil - 1;
    expect(await isLost()).toBe(false);
    expect(await rows.newLifecycle().claim(job(at))).toMatchObject({ deferredUntil: renewedUntil });
    rows.now = renewedUntil + 1;
    expect(await isLost()).toBe(true);
    const second = expectClaimed(await rows.newLifecycle().claim(job(at)));
    expect(second.run).toMatchObject({ id: first.run.id, claimCount: 2 });
    expect(await isLost()).toBe(false);
  });
});
