import type pg from 'pg';

/** Finds the connection of an access token; undefined for that of an application that acts by itself. */
export async function findConnection(db: pg.Pool, accessTokenId: string): Promise<string | undefined> {
  const { rows } = await db.query<{ id: string | null }>({
    name: 'connection_of_access_token',
    text: 'select grant_id::text as id from oauth_access_tokens where id = $1',
    values: [accessTokenId],
  });
  return rows[0]?.id ?? undefined;
}

/** Finds the last position up to which the facts of the organisation are older. */
export async function findPositionBefore(
  db: pg.Pool,
  orgId: string,
  { after, before }: { readonly after: string; readonly before: Date },
): Promise<string> {
  // From the newest back: what lies between is sent.
  const { rows } = await db.query<{ position: string }>({
    name: 'position_before',
    text: `select position::text from outbox.events where org_id = $1 and position > $2 and created_at < $3
      order by position desc limit 1`,
    values: [orgId, after, before],
  });
  return rows[0]?.position ?? after;
}
