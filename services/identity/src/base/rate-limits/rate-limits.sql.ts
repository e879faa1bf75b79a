import { hash } from 'node:crypto';
import type { SqlClient } from '../sql-client.js';

/** Hashes a subject, so that the table reveals no addresses or tokens and an e-mail of any length fits the column. */
export const toKey = (subject: string): string => hash('sha256', subject, 'base64url');

const increment = `
  insert into rate_limits as present (key, points, expire) values ($1, 1, $2::bigint + $3::bigint)
  on conflict (key) do update set
    points = case when present.expire <= $2::bigint then 1 else present.points + 1 end,
    expire = case when present.expire <= $2::bigint then excluded.expire else present.expire end
  returning points`;

/**
 * Increments the count of a key, in the transaction of the counted change.
 *
 * @returns the count in the current window, this increment included. A window begins with its first increment.
 */
export async function incrementCount(
  db: SqlClient,
  key: string,
  at: Date,
  windowMs: number,
): Promise<number> {
  const { rows } = await db.query<{ points: number }>(increment, [key, at.getTime(), windowMs]);
  return rows[0]?.points ?? 1;
}

export const deleteCounts = (db: SqlClient, keys: readonly string[]): Promise<unknown> =>
  db.query('delete from rate_limits where key = any($1)', [keys]);
