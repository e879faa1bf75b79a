import type pg from 'pg';
import type { SqlClient } from '../../base/sql-client.js';

/**
 * Serialises changes to an organisation's administrators, so that concurrent requests can't remove the last one. Inserts
 * that refer to the organisation aren't blocked.
 */
export const lockOrganisation = (db: SqlClient, orgId: string): Promise<unknown> =>
  db.query('select id::text from organisations where id = $1::uuid for no key update', [orgId]);

export async function findOrganisationName(db: pg.Pool, id: string): Promise<string | undefined> {
  const { rows } = await db.query<{ name: string }>({
    name: 'organisation_name',
    text: 'select name from organisations where id = $1',
    values: [id],
  });
  return rows[0]?.name;
}
