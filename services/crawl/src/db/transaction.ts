import type pg from 'pg';

/** One connection inside an open transaction. */
export type Transaction = pg.PoolClient;

export type Db = pg.Pool | Transaction;

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

/**
 * Sends all statements in one message, which makes one transaction of them: all or none, and no connection is held while
 * anybody is waited for. Each sees what was committed before it began. They can have no parameters.
 */
export async function inOneMessage(
  pool: pg.Pool,
  statements: readonly string[],
): Promise<readonly pg.QueryResult[]> {
  // pg's types know of no message with several statements.
  return (await pool.query(statements.join(';\n'))) as unknown as pg.QueryResult[];
}
