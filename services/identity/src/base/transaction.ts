import type pg from 'pg';
import type { Transaction } from '../resources.js';

/** A transaction of Prisma, or a connection of `inTransaction`. */
export type SqlClient = Pick<Transaction, '$queryRawUnsafe'> | Pick<pg.PoolClient, 'query'>;

/** Runs a statement in a transaction of either kind. @returns its rows. */
export const queryRows = async <Row extends object>(
  db: SqlClient,
  text: string,
  values: readonly unknown[],
): Promise<Row[]> =>
  'query' in db ? (await db.query<Row>(text, [...values])).rows : db.$queryRawUnsafe<Row[]>(text, ...values);
