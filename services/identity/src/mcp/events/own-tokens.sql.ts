import type pg from 'pg';
import type { OwnToken } from './event-types.js';

/** Finds which of the tokens are of the account: a member or a service account. */
export async function findOwnTokens(
  db: pg.Pool,
  { orgId, userId }: { readonly orgId: string; readonly userId: string },
  ids: readonly string[],
): Promise<OwnToken[]> {
  const { rows } = await db.query<OwnToken>({
    name: 'own_tokens_of_events',
    text: `select id::text, name, expires_at as "expiresAt" from personal_access_tokens
      where id = any($1::uuid[]) and org_id = $2 and coalesce(owner_id, service_account_id) = $3`,
    values: [[...ids], orgId, userId],
  });
  return rows;
}
