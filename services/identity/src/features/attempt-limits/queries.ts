import type { Transaction } from '../../resources.js';

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

export const deleteCounts = (db: Transaction, keys: readonly string[]): Promise<unknown> =>
  db.rateLimit.deleteMany({ where: { key: { in: [...keys] } } });
