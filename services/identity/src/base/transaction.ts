import type pg from 'pg';
import type { Transaction } from '../resources.js';

/** Runs the statements of `run` in a transaction, on one connection. They are rolled back when it throws. */
export async function runInTransaction<T>(
  pool: pg.Pool,
  run: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let isBroken = false;
  try {
    await client.query('begin');
    const result = await run(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => {
      isBroken = true;
    });
    throw error;
  } finally {
    client.release(isBroken);
  }
}

/** A transaction of Prisma, or a connection of `runInTransaction`. */
export type SqlClient = Pick<Transaction, '$queryRawUnsafe'> | Pick<pg.PoolClient, 'query'>;

/** Runs a statement in a transaction of either kind. @returns its rows. */
export const queryRows = async <Row extends object>(
  db: SqlClient,
  text: string,
  values: readonly unknown[],
): Promise<Row[]> =>
  'query' in db ? (await db.query<Row>(text, [...values])).rows : db.$queryRawUnsafe<Row[]>(text, ...values);
