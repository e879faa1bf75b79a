import type { CredentialKind, Role } from '@platform/auth';
import type pg from 'pg';
import { isSessionOpen } from '../../base/open-session.js';

/** A row as an array rather than an object, because this is the most frequent query of the service. */
export type LivenessRow = [
  tokenHash: string,
  role: Role,
  email: string,
  fullName: string,
  /** Space-delimited; null when the signed scopes apply. */
  narrowedScope: string | null,
  /** The ranges of the token's allow list, space-delimited; null when it allows every address. */
  allowList: string | null,
  /** The organisation's allow list, in the same form. */
  orgAllowList: string | null,
  isServiceAccount: boolean,
  /** The groups of the account, as `<id> <source> <name>` in lines; null when it is in none. */
  groups: string | null,
  /** What the credential is limited to, as JSON; null for nothing. */
  bounds: string | null,
];

/*
 * The scopes that an access token still has, when it has lost some: a scope may have
 * been removed from its application, or denied by the organisation. For clients that describe themselves, the grant decides.
 */
export const keptScopes = `
  case when o.scopes && p.denied_scopes or c.kind = 'application' and not o.scopes <@ c.scopes
    then array_to_string(array(
      select scope from unnest(o.scopes) scope
      where (c.kind <> 'application' or scope = any(c.scopes)) and scope <> all(coalesce(p.denied_scopes, '{}'))
    ), ' ') end`;

/* Most tokens and organisations have no list, and printing one costs more than the rest of a row. */
const printList = (list: string): string =>
  `case when ${list} <> '{}' then array_to_string(${list}, ' ') end`;

/* Names of groups have no line breaks. Nobody is in more than 200 groups. */
const groupsOf = (account: string): string => `
  (select string_agg(concat_ws(' ', g.id, g.source, g.name), e'\\n' order by g.name_key, g.source)
   from group_members m join groups g on g.id = m.group_id where m.member_id = ${account})`;

/*
 * The policy of the organisation holds for every token from the next request on: denied scopes are left out, and a token
 * ends at the latest when the longest lifetime has passed since its creation. [PAT-30]
 */
const liveTokens = (ids: string, now: string): string => `
  select t.token_hash, coalesce(u.role, a.role), coalesce(u.email, ''), coalesce(u.full_name, a.name),
         case when t.scopes && p.denied_scopes
              then array_to_string(array(select scope from unnest(t.scopes) scope where scope <> all(p.denied_scopes)), ' ') end,
         ${printList('t.allow_list')}, ${printList('p.allow_list')}, t.service_account_id is not null,
         ${groupsOf('coalesce(t.owner_id, t.service_account_id)')}, t.bounds::text
  from personal_access_tokens t
    -- Exactly one of them is the owner.
    left join users u on u.id = t.owner_id
    left join service_accounts a on a.id = t.service_account_id
    left join oauth_clients c on c.service_account_id = t.service_account_id
    left join token_policies p on p.org_id = t.org_id
  where t.id = any(${ids}::uuid[]) and t.status = 'active' and u.removed_at is null and a.removed_at is null
    and c.disabled_at is null and (t.expires_at is null or t.expires_at > ${now}::timestamptz)
    and (p.max_lifetime_days is null or t.created_at + p.max_lifetime_days * interval '24 hours' > ${now}::timestamptz)
    and (p.allows_never is not false or t.expires_at is not null or p.max_lifetime_days is not null)`;

const liveSessions = (ids: string): string => `
  select s.token_hash, u.role, u.email, u.full_name, null, null, null, false,
         ${groupsOf('u.id')}, null
  from sessions s join users u on u.id = s.user_id join organisations o on o.id = s.org_id
  where s.id = any(${ids}::uuid[]) and ${isSessionOpen('s', 'o')} and u.removed_at is null`;

const liveServices = (ids: string): string => `
  select c.token_hash, 'member'::role, '', '', null, null, null, false, null, null
  from service_credentials c where c.id = any(${ids}::uuid[])`;

/*
 * The tokens are materialised first, because the planner would otherwise start from a client while it knows little of the
 * tables, and read all of its tokens. A token that was exchanged for another one ends with it.
 */
const liveAccessTokens = (ids: string): string => `
  (with o as materialized (
    select * from oauth_access_tokens token
    where id = any(${ids}::uuid[]) and revoked_at is null and (parent_id is null
      or (select parent.revoked_at is null from oauth_access_tokens parent where parent.id = token.parent_id))
  )
  select o.token_hash, coalesce(u.role, a.role), coalesce(u.email, ''), coalesce(u.full_name, a.name), ${keptScopes},
         null, ${printList('p.allow_list')}, o.service_account_id is not null,
         ${groupsOf('coalesce(u.id, a.id)')}, case when g.id is null then c.bounds else g.bounds end::text
  from o
    join oauth_clients c on c.id = o.client_id
    -- It acts either for the member of a grant or as a service account.
    left join (oauth_grants g join users u on u.id = g.user_id) on g.id = o.grant_id
    left join service_accounts a on a.id = o.service_account_id
    left join token_policies p on p.org_id = coalesce(g.org_id, a.org_id)
  where g.revoked_at is null and c.disabled_at is null and c.removed_at is null and u.removed_at is null
    and a.removed_at is null and coalesce(u.id, a.id) is not null)`;

const selects: Record<CredentialKind, (ids: string, now: string) => string> = {
  pat: liveTokens,
  session: liveSessions,
  service: liveServices,
  oauth: liveAccessTokens,
};
const allKinds = Object.keys(selects) as CredentialKind[];

/*
 * One named prepared statement per batch, made of the kinds that the batch has, because starting a select costs as much as
 * looking up ten credentials. Credentials, their owners and the policy of their organisation are looked up by primary
 * key, so the cost grows with the batch, not with the tables. Allow lists are compared by the service: a join with the
 * addresses can be planned as a scan of all tokens of an owner.
 */
const statements = new Map<string, string>();

function toStatement(kinds: readonly CredentialKind[]): { name: string; text: string } {
  const name = `live_${kinds.join('_')}`;
  let text = statements.get(name);
  if (text === undefined) {
    const now = `$${kinds.length + 1}`;
    text = kinds.map((kind, index) => selects[kind](`$${index + 1}`, now)).join('\n  union all');
    statements.set(name, text);
  }
  return { name, text };
}

/**
 * Finds the credentials that are live. Verification has checked the signed expiry; that of a token may have moved closer
 * since, when it was rotated.
 *
 * @param idsByKind - only the kinds that occur.
 */
export async function findLiveCredentials(
  db: pg.Pool,
  idsByKind: Readonly<Partial<Record<CredentialKind, readonly string[]>>>,
  now: Date,
): Promise<LivenessRow[]> {
  const kinds = allKinds.filter((kind) => idsByKind[kind]);
  // As text, which pg passes on as it is: the ids of signed credentials need no escaping.
  const ids = kinds.map((kind) => `{${(idsByKind[kind] ?? []).join()}}`);
  const values = kinds.includes('pat') ? [...ids, now.toISOString()] : ids;
  const { rows } = await db.query<LivenessRow>({ ...toStatement(kinds), values, rowMode: 'array' });
  return rows;
}
