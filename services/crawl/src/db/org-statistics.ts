import type pg from 'pg';

const totals = `
  select coalesce(sum(completed), 0)::float8 as completed, coalesce(sum(failed), 0)::float8 as failed
  from org_statistics where org_id = $1 and connector = any($2::text[])`;

/** Sums the counters of these connectors. */
export async function findTotals(
  db: pg.Pool,
  orgId: string,
  connectors: readonly string[],
): Promise<{ completed: number; failed: number }> {
  const { rows } = await db.query<{ completed: number; failed: number }>({
    name: 'org_statistics',
    text: totals,
    values: [orgId, connectors],
  });
  return rows[0] ?? { completed: 0, failed: 0 };
}
