import type pg from 'pg';
import { renewLeases } from '../../src/db/claimed-runs.js';
import { at, times, useRunRows } from '../support/run-rows.js';

/** Counts the updates of the transaction, and those that changed no index. */
async function readCounts(tx: pg.PoolClient): Promise<{ updated: number; hot: number }> {
  const { rows } = await tx.query<{ updated: number; hot: number }>(
    `select n_tup_upd::int as updated, n_tup_hot_upd::int as hot from pg_stat_xact_user_tables where relname = 'runs'`,
  );
  return rows[0] ?? { updated: NaN, hot: NaN };
}

describe('the heartbeat of a run', () => {
  const rows = useRunRows();

  it('writes no indexed column', async () => {
    const run = await (await rows.scheduleDaily()).claim();
    const tx = await rows.pool.connect();
    try {
      await tx.query('begin');
      const before = await readCounts(tx);
      for (let beat = 1; beat <= 5; beat += 1)
        expect(await renewLeases(tx, [run], new Date(at + times.leaseMs + beat * 1_000))).toEqual(
          new Set([run]),
        );
      const after = await readCounts(tx);
      expect([after.updated - before.updated, after.hot - before.hot]).toEqual([5, 5]);
    } finally {
      await tx.query('rollback');
      tx.release();
    }
  });

  it('prevents the run from being delivered to other workers', async () => {
    const { claim, deliver } = await rows.scheduleDaily();
    const first = await claim();
    const renewedUntil = at + 2 * times.leaseMs;
    await renewLeases(rows.pool, [first], new Date(renewedUntil));
    rows.now = renewedUntil - 1;
    expect(await deliver()).toBeUndefined();
    rows.now = renewedUntil;
    expect(await claim()).toMatchObject({ id: first.id, claimCount: 2 });
    expect(await deliver()).toBeUndefined();
  });
});
