import type pg from 'pg';

/**
 * Runs `work` in a transaction on one connection; an error rolls it back. A connection whose rollback failed is closed,
 * because its state is unknown.
 */
export async function inTransaction<T>(pool: pg.Pool, work: (tx: pg.PoolClient) => Promise<T>): Promise<T> {
  const tx = await pool.connect();
  let isBroken = false;
  try {
    await tx.query('begin');
    const result = await work(tx);
    await tx.query('commit');
    return result;
  } catch (error) {
    await tx.query('rollback').catch(() => {
      isBroken = true;
    });
    throw error;
  } finally {
    tx.release(isBroken);
  }
}
