import type { Role } from '@platform/auth';
import type pg from 'pg';

/** A row as an array rather than an object, because this is the most frequent query of the service. */
export type LivenessRow = [
  id: string,
  tokenHash: string,
  role: Role,
  email: string,
  fullName: string,
  /** Space-delimited; null when the signed scopes apply. */
  narrowedScope: string | null,
  /** The allow list of the token, separated by spaces; null when it allows every address. */
  allowList: string | null,
  /** The allow list of the organisation, in the same form. */
  orgAllowList: string | null,
  isServiceAccount: boolean,
  /** The version of the organisation's mounted tools; null when it has never had an MCP server. */
  catalogueVersion: number | null,
];

/*
 * The scopes of an access token that its application still has. Clients that describe themselves have no scopes of their
 * own: the grant decides.
 */
const keptScopes = `case when c.kind = 'application' and not o.scopes <@ c.scopes
           then array_to_string(array(select unnest(o.scopes) intersect select unnest(c.scopes)), ' ') end`;

/* A token that was exchanged for another one ends with it. */
const hasLiveParent = `(o.parent_id is null or exists (
      select from oauth_access_tokens parent where parent.id = o.parent_id and parent.revoked_at is null
    ))`;

/*
 * One named prepared statement per batch. Credentials, their owners and the policy of their organisation are looked up by
 * primary key, so the cost grows with the batch, not with the tables. Allow lists, which are rare, are returned rather than
 * compared here: a join with the addresses can be planned as a scan of all tokens of an owner.
 */
const liveCredentials = `
  select t.id::text, t.token_hash, coalesce(u.role, a.role), coalesce(u.email, ''), coalesce(u.full_name, a.name),
         case when t.is_narrowed then array_to_string(t.scopes, ' ') end,
         nullif(array_to_string(t.allow_list, ' '), ''), nullif(array_to_string(p.allow_list, ' '), ''), t.service_account_id is not null,
         m.version::float8
  from personal_access_tokens t
    -- Exactly one of them is the owner.
    left join users u on u.id = t.owner_id
    left join service_accounts a on a.id = t.service_account_id
    left join oauth_clients c on c.service_account_id = t.service_account_id
    left join token_policies p on p.org_id = t.org_id
    left join mcp_catalogues m on m.org_id = t.org_id
  where t.id = any($1::uuid[]) and t.status = 'active' and u.removed_at is null and a.removed_at is null
    and c.disabled_at is null and (t.expires_at is null or t.expires_at > $5)
  union all
  select s.id::text, s.token_hash, u.role, u.email, u.full_name, null, null, null, false, m.version::float8
  from sessions s join users u on u.id = s.user_id left join mcp_catalogues m on m.org_id = u.org_id
  where s.id = any($2::uuid[]) and s.ended_at is null and u.removed_at is null
  union all
  select c.id::text, c.token_hash, 'member', '', '', null, null, null, false, null
  from service_credentials c where c.id = any($3::uuid[])
  union all
  select o.id::text, o.token_hash, u.role, u.email, u.full_name, ${keptScopes},
         null, nullif(array_to_string(p.allow_list, ' '), ''), false, m.version::float8
  from oauth_access_tokens o
    join oauth_clients c on c.id = o.client_id
    join oauth_grants g on g.id = o.grant_id
    join users u on u.id = g.user_id
    left join token_policies p on p.org_id = g.org_id
    left join mcp_catalogues m on m.org_id = g.org_id
  where o.id = any($4::uuid[]) and o.revoked_at is null and g.revoked_at is null
    and c.disabled_at is null and c.removed_at is null and u.removed_at is null and ${hasLiveParent}
  union all
  select o.id::text, o.token_hash, a.role, '', a.name, ${keptScopes},
         null, nullif(array_to_string(p.allow_list, ' '), ''), true, m.version::float8
  from oauth_access_tokens o
    join oauth_clients c on c.id = o.client_id
    join service_accounts a on a.id = o.service_account_id
    left join token_policies p on p.org_id = a.org_id
    left join mcp_catalogues m on m.org_id = a.org_id
  where o.id = any($4::uuid[]) and o.revoked_at is null
    and c.disabled_at is null and c.removed_at is null and a.removed_at is null and ${hasLiveParent}`;

export interface LivenessQuestion {
  readonly tokenIds: readonly string[];
  readonly sessionIds: readonly string[];
  readonly serviceCredentialIds: readonly string[];
  readonly accessTokenIds: readonly string[];
  readonly now: Date;
}

/**
 * Finds the credentials that are live. Verification has checked the signed expiry; that of a token may have moved closer
 * since, when it was rotated.
 */
export async function findLiveCredentials(db: pg.Pool, question: LivenessQuestion): Promise<LivenessRow[]> {
  const { tokenIds, sessionIds, serviceCredentialIds, accessTokenIds, now } = question;
  const values = [tokenIds, sessionIds, serviceCredentialIds, accessTokenIds, now];
  const { rows } = await db.query<LivenessRow>({
    name: 'live_credentials',
    text: liveCredentials,
    values,
    rowMode: 'array',
  });
  return rows;
}
