import type pg from 'pg';

/** One connection inside an open transaction. */
export type Transaction = pg.PoolClient;

/**
 * Runs `work` in a transaction; an error rolls it back. A connection that failed is not used again:
 * what state it is in, nobody knows.
 *
 * @param begin - what opens it, when something goes in one message with the `begin`.
 */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (tx: Transaction) => Promise<T>,
  begin = 'begin',
): Promise<T> {
  const tx = await pool.connect();
  let failure: unknown;
  try {
    await tx.query(begin);
    const result = await work(tx);
    await tx.query('commit');
    return result;
  } catch (error) {
    failure = error;
    await tx.query('rollback').then(
      () => (failure = undefined),
      () => undefined,
    );
    throw error;
  } finally {
    tx.release(failure !== undefined);
  }
}
