import type pg from 'pg';

export async function findTotals(db: pg.Pool, orgId: string): Promise<{ completed: number; failed: number }> {
  const { rows } = await db.query<{ completed: number; failed: number }>({
    name: 'org_statistics',
    text: 'select completed::float8 as completed, failed::float8 as failed from org_statistics where org_id = $1',
    values: [orgId],
  });
  return rows[0] ?? { completed: 0, failed: 0 };
}
