import type pg from 'pg';

/** A connection with an open transaction. */
export type Transaction = pg.PoolClient;

export type Db = pg.Pool | Transaction;

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
