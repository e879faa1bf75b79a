import type pg from 'pg';
import { MAX_RANGES } from '../../credentials/allow-lists/ranges.js';
import { type Caller, getUserAgent } from '../../base/caller/actor.js';
import { auditIdPrefix } from '../../audit/queries.js';
import { REVOKE_TIMEOUT_MS } from '../revoke/queries.js';

/** A token that was narrowed, and its new limits. */
export interface Narrowing {
  readonly tokenId: string;
  /** Undefined when the list stays as it is. */
  readonly allowList: readonly string[] | undefined;
  /** Undefined when the scopes stay as they are. */
  readonly scopes: readonly string[] | undefined;
  readonly caller: Caller;
  readonly at: Date;
}

export interface NarrowedFamily {
  /** The number of tokens that were revoked because they had none of the scopes. */
  readonly revokedCount: number;
  /** The number of tokens that would be allowed from nowhere, or have too many ranges. */
  readonly excludedCount: number;
}

/*
 * The tokens that a revocation of the token `$1` would revoke, each with whether it is revoked now: it, or one above it, has
 * none of the scopes `$3`. The list `$2` and the scopes are null when they stay as they are.
 */
const family = `
  family as (
    select id, false as is_revoked from personal_access_tokens where id = $1::uuid
    union
    select member.id, family.is_revoked or not coalesce(member.scopes && $3::text[], true)
    from family cross join lateral (
      select id, scopes from personal_access_tokens where parent_id = family.id and status = 'active'
      union all
      select id, scopes from personal_access_tokens where successor_id = family.id and status = 'active'
    ) member
  ), member as materialized (
    select token.id, token.org_id, token.allow_list as old_list, token.scopes as old_scopes, is_revoked,
      case when $2::text[] is null then token.allow_list
           when token.allow_list = '{}' then $2::text[]::inet[]
           else array(
             select distinct case when own <<= given then own else given end
             from unnest(token.allow_list) own cross join unnest($2::text[]::inet[]) given
             where own <<= given or given <<= own
           ) end as new_list,
      case when $3::text[] is null then token.scopes
           else array(
             select scope from unnest(token.scopes) with ordinality as own (scope, position)
             where scope = any($3::text[]) order by position
           ) end as new_scopes
    from (select id, bool_or(is_revoked) as is_revoked from family group by id) one
      join personal_access_tokens token using (id)
    where token.id <> $1::uuid and (token.expires_at is null or token.expires_at > $5::timestamptz)
  ), change as materialized (
    select *, not (old_list <@ new_list and new_list <@ old_list) as is_list_narrowed, new_scopes <> old_scopes as is_scope_removed
    from member where not is_revoked
  )`;

const change = (field: string, from: string, to: string): string =>
  `jsonb_build_object('${field}', jsonb_build_object('from', array_to_string(${from}, ' '), 'to', array_to_string(${to}, ' ')))`;

const narrow = `
  with recursive ${family}, narrowed as (
    update personal_access_tokens token
    set allow_list = case when is_list_narrowed then new_list else token.allow_list end,
        scopes = new_scopes, is_narrowed = token.is_narrowed or is_scope_removed
    from change
    where token.id = change.id and (is_list_narrowed or is_scope_removed)
      and cardinality(new_list) <= ${MAX_RANGES} and (cardinality(new_list) > 0 or not is_list_narrowed)
    returning token.id, token.org_id, old_list, new_list, old_scopes, new_scopes, is_list_narrowed, is_scope_removed
  ), revoked as (
    update personal_access_tokens token
    set status = 'revoked', revoked_at = $5::timestamptz, revoked_by = $6::uuid, revoked_reason = 'narrowed'
    from member where token.id = member.id and member.is_revoked
    returning token.id, token.org_id
  ), entry as (
    select id, org_id, 'token.changed' as action, null as reason,
      jsonb_build_object('narrowedWith', $1::text) as detail,
      case when is_list_narrowed then ${change('allowList', 'old_list', 'new_list')} else '{}' end
        || case when is_scope_removed then ${change('scopes', 'old_scopes', 'new_scopes')} else '{}' end as changes
    from narrowed
    union all
    select id, org_id, 'token.revoked', 'narrowed', jsonb_build_object('revokedWith', $1::text), '{}' from revoked
  ), entries as (
    insert into audit_entries
      (id, org_id, action, actor_id, credential_kind, credential_id, address, user_agent, subject_id, reason, detail, changes, created_at)
    select ($4::text || substr(gen_random_uuid()::text, 16))::uuid, org_id, action, $6::uuid, $7, $8::uuid, $9, $10, id,
      reason, detail, changes, $5::timestamptz
    from entry
  )
  select (select count(*)::int from member where is_revoked) as "revokedCount",
    (select count(*)::int from change where is_list_narrowed and cardinality(new_list) not between 1 and ${MAX_RANGES}) as "excludedCount"`;

/**
 * Narrows the tokens that a revocation of this one would revoke, so that none is allowed from where this one isn't, or has a
 * scope that this one lacks. Those that would have no scope are revoked, with what they created. The audit has each. The
 * owner is locked by `lockTokenOwner`, which gives the statement as much time as a revocation has.
 */
export async function narrowFamily(
  client: pg.PoolClient,
  { tokenId, allowList, scopes, caller, at }: Narrowing,
): Promise<NarrowedFamily> {
  const query: pg.QueryConfig & { query_timeout: number } = {
    text: narrow,
    values: [
      tokenId,
      allowList ?? null,
      scopes ?? null,
      auditIdPrefix(at),
      at.toISOString(),
      caller.userId,
      caller.kind,
      caller.credentialId,
      caller.client.address,
      getUserAgent(caller.client),
    ],
    query_timeout: REVOKE_TIMEOUT_MS,
  };
  const { rows } = await client.query<NarrowedFamily>(query);
  return rows[0] ?? { revokedCount: 0, excludedCount: 0 };
}
