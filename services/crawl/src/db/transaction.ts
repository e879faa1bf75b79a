import type pg from 'pg';

/** A connection with an open transaction. */
export type Transaction = pg.PoolClient;

export type Db = pg.Pool | Transaction;

/**
 * Runs `work` in a transaction; an error rolls it back. A connection whose rollback failed is closed, because its
 * state is unknown.
 *
 * @param begin - the statement that opens the transaction, when something else is sent together with `begin`.
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
 * Sends all statements in one message, which makes them one transaction, and needs a connection for one round trip
 * only. Each statement sees what was committed before it began. Statements cannot have parameters.
 */
export async function inOneMessage(
  pool: pg.Pool,
  statements: readonly string[],
): Promise<readonly pg.QueryResult[]> {
  // pg's types don't cover a message with several statements.
  return (await pool.query(statements.join(';\n'))) as unknown as pg.QueryResult[];
}
