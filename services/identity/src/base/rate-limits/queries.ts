import { hash } from 'node:crypto';
import type { Transaction } from '../../resources.js';

/** Hashes a subject, so that the table reveals no addresses or tokens and an e-mail of any length fits the column. */
export const toKey = (subject: string): string => hash('sha256', subject, 'base64url');

/**
 * Increments the count of a key, in the transaction of the counted change.
 *
 * @returns the count in the current window, this increment included. A window begins with its first increment.
 */
export async function incrementCount(
  db: Transaction,
  key: string,
  at: Date,
  windowMs: number,
): Promise<number> {
  const now = at.getTime();
  const [row] = await db.$queryRaw<[{ points: number }]>`
    insert into rate_limits as present (key, points, expire) values (${key}, 1, ${now + windowMs}::bigint)
    on conflict (key) do update set
      points = case when present.expire <= ${now}::bigint then 1 else present.points + 1 end,
      expire = case when present.expire <= ${now}::bigint then excluded.expire else present.expire end
    returning points`;
  return row.points;
}

/**
 * Returns the SQL that does the same as a part of the statement that causes the count.
 *
 * @param key - the parameters or columns of `cause`, as is `at`.
 * @param cause - the table expression whose row is counted; one row at most.
 */
export const incrementCountFrom = (key: string, at: string, windowMs: number, cause: string): string => `
  insert into rate_limits as present (key, points, expire)
  select ${key}, 1, (extract(epoch from ${at}) * 1000)::bigint + ${windowMs} from ${cause}
  on conflict (key) do update set
    points = case when present.expire <= excluded.expire - ${windowMs} then 1 else present.points + 1 end,
    expire = case when present.expire <= excluded.expire - ${windowMs} then excluded.expire else present.expire end
  returning points`;

export const deleteCounts = (db: Transaction, keys: readonly string[]): Promise<unknown> =>
  db.rateLimit.deleteMany({ where: { key: { in: [...keys] } } });
