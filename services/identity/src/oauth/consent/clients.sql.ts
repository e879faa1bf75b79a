import type pg from 'pg';

export interface StoredClient {
  readonly kind: string;
  readonly org_id: string | null;
  readonly name: string;
  /** Null for a client that describes itself. */
  readonly scopes: readonly string[] | null;
  /** Whether it was disabled or removed. */
  readonly is_ended: boolean;
}

export async function findStoredClient(db: pg.Pool, id: string): Promise<StoredClient | undefined> {
  const { rows } = await db.query<StoredClient>(
    `select kind, org_id, name, case when kind = 'application' then scopes end as scopes,
       disabled_at is not null or removed_at is not null as is_ended
     from oauth_clients where id = $1`,
    [id],
  );
  return rows[0];
}
