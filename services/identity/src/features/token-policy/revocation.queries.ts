import type pg from 'pg';
import type { TokenPolicy } from './policy.js';

/*
 * A policy that was saved with `existingTokens: revoke` has a mark until the tokens that it would not allow are revoked: its
 * `revoking_version` is then its `updated_at`. Each save replaces or ends it, that of a replica which doesn't know the mark
 * as well.
 */
const isMarked = 'revoking_version = updated_at';

/** A save of the policy of an organisation. */
export interface PolicySave {
  readonly orgId: string;
  readonly version: Date;
}

export interface UnfinishedSave extends PolicySave {
  readonly policy: TokenPolicy;
  readonly savedBy: { readonly userId: string; readonly fullName: string; readonly email: string };
}

const unfinished = `
  select policy.org_id as "orgId", updated_at as version, allow_list::text[] as "allowList",
    max_lifetime_days as "maxLifetimeDays", allows_never as "allowsNever", denied_scopes as "deniedScopes",
    revoke_family_on_reuse as "revokeFamilyOnReuse", revoke_unused_days as "revokeUnusedDays",
    saver.id as "userId", saver.full_name as "fullName", saver.email
  from token_policies policy join users saver on saver.id = policy.revoking_by and saver.org_id = policy.org_id
  where ${isMarked} and updated_at <= $1 and policy.org_id > $2
  order by policy.org_id limit $3`;

/** Finds policies whose revocations are not finished, by the index `token_policies_revoking`. */
export async function findUnfinishedSaves(
  db: pg.Pool,
  search: { readonly savedBefore: Date; readonly after: string; readonly limit: number },
): Promise<UnfinishedSave[]> {
  const { rows } = await db.query<PolicySave & TokenPolicy & UnfinishedSave['savedBy']>(unfinished, [
    search.savedBefore,
    search.after,
    search.limit,
  ]);
  return rows.map(({ orgId, version, userId, fullName, email, ...policy }) => ({
    orgId,
    version,
    policy,
    savedBy: { userId, fullName, email },
  }));
}

/** Keeps the policy from being saved until the transaction ends. @returns whether its revocations are those of the save. */
export async function lockRevocation(
  client: pg.PoolClient,
  { orgId, version }: PolicySave,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `select from token_policies where org_id = $1 and updated_at = $2 and ${isMarked} for share`,
    [orgId, version],
  );
  return rowCount === 1;
}

/** The reason that is stored with the revocations. */
export const REVOCATION_REASON = 'policy';

const revokedTokens = `
  select from personal_access_tokens
  where owner_id = $1 and status <> 'active' and revoked_reason = '${REVOCATION_REASON}' and revoked_at >= $2 limit 1`;

/**
 * Returns whether tokens of the owner were revoked by this save: then the owner was told. Revocations of an earlier save have
 * an earlier time.
 */
export async function hasRevoked(
  client: pg.PoolClient,
  { version }: PolicySave,
  ownerId: string,
): Promise<boolean> {
  return (await client.query(revokedTokens, [ownerId, version])).rowCount === 1;
}

/** Notes that all tokens that the save does not allow are revoked. */
export const clearRevocation = (db: pg.Pool, { orgId, version }: PolicySave): Promise<unknown> =>
  db.query(
    `update token_policies set revoking_version = null, revoking_by = null where org_id = $1 and revoking_version = $2`,
    [orgId, version],
  );
