import type pg from 'pg';
import { lockTokenOwner, platformRevoker, revokeLockedTokens } from './queries.js';

const newestToken = `
  with recursive lineage as (
    select id, successor_id, 0 as rotations from personal_access_tokens where id = $1
    union all
    select token.id, token.successor_id, rotations + 1
    from lineage join personal_access_tokens token on token.id = lineage.successor_id
    where $2::timestamptz is null or token.created_at >= $2
  )
  select id from lineage order by rotations desc limit 1`;

/**
 * Revokes the newest token of a lineage in the name of the platform, with the predecessors that still work and with all that
 * they created. The owner is locked first, so that no rotation can replace the newest token.
 *
 * @param lineage.rotatedSince - ignores earlier rotations: what they created stays.
 */
export async function revokeLineage(
  client: pg.PoolClient,
  lineage: {
    readonly tokenId: string;
    readonly orgId: string;
    readonly reason: string;
    readonly rotatedSince?: Date;
    readonly at: Date;
  },
): Promise<void> {
  const { tokenId, orgId, reason, rotatedSince, at } = lineage;
  await lockTokenOwner(client, tokenId, orgId);
  const { rows } = await client.query<{ id: string }>(newestToken, [tokenId, rotatedSince ?? null]);
  await revokeLockedTokens(client, {
    tokenId: rows[0]?.id ?? tokenId,
    ownerId: undefined,
    by: platformRevoker(orgId),
    reason,
    keepsDescendants: false,
    at,
  });
}
