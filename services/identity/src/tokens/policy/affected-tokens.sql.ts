import type pg from 'pg';
import type { Breach, TokenPolicy } from './policy.js';

/** An active token that a policy would limit. */
export interface AffectedToken {
  readonly id: string;
  readonly name: string;
  readonly ownerId: string;
  /** Empty for a service account. */
  readonly ownerEmail: string;
  /** The name of the member or the service account. */
  readonly ownerFullName: string;
  readonly breaches: Breach[];
}

/*
 * The active tokens of an organisation that the policy of the parameters would limit, newest first, with the number of all
 * of them. The conditions are those of liveness; an address counts by the last use.
 */
const affectedTokens = `
  with affected as (
    select t.*, used.breaches from personal_access_tokens t
      left join token_last_used last on last.token_id = t.id
      cross join lateral (select array_remove(array[
        case when t.expires_at > t.created_at + $3::int * interval '24 hours' then 'lifetime' end,
        case when t.expires_at is null and ($3::int is not null or not $4::boolean) then 'never' end,
        case when t.scopes && $5::text[] then 'scope' end,
        case when $6::inet[] <> '{}' and (
          last.address is not null and not last.address::inet <<= any($6)
          or t.allow_list <> '{}' and not exists (select from unnest(t.allow_list) own where own && any($6))
        ) then 'address' end
      ], null) as breaches) used
    where t.org_id = $1 and t.status = 'active' and (t.expires_at is null or t.expires_at > $2)
      and used.breaches <> '{}'
  )
  select t.id, t.name, t.breaches, coalesce(t.owner_id, t.service_account_id) as "ownerId",
         coalesce(u.email, '') as "ownerEmail", coalesce(u.full_name, a.name) as "ownerFullName",
         (select count(*)::int from affected) as count
  from affected t
    left join users u on u.id = t.owner_id
    left join service_accounts a on a.id = t.service_account_id
  order by t.id desc limit $7`;

/** Finds the active tokens that the policy would limit: at most `limit`, newest first, and their number. */
export async function findAffectedTokens(
  db: pg.Pool,
  orgId: string,
  policy: TokenPolicy,
  { now, limit }: { readonly now: Date; readonly limit: number },
): Promise<{ readonly count: number; readonly tokens: readonly AffectedToken[] }> {
  const { rows } = await db.query<AffectedToken & { readonly count: number }>(affectedTokens, [
    orgId,
    now,
    policy.maxLifetimeDays,
    policy.allowsNever,
    policy.deniedScopes,
    policy.allowList,
    limit,
  ]);
  return { count: rows[0]?.count ?? 0, tokens: rows };
}
