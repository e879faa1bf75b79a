import type { Role } from '@platform/auth';
import type pg from 'pg';

/** A row as an array rather than an object, because this is the most frequent query of the service. */
export type LivenessRow = [
  /** The position of the token in the question, from 1; the id of any other credential. */
  key: string,
  tokenHash: string,
  role: Role,
  email: string,
  fullName: string,
  /** Space-delimited; null when the signed scopes apply. */
  narrowedScope: string | null,
  /** Whether the allow lists of the token and of its organisation contain the address. */
  isAllowed: boolean,
];

/*
 * One named prepared statement per batch. Credentials, their owners and the policy of their organisation are looked up by
 * primary key, so the cost grows with the batch, not with the tables. A token is asked for together with the address that
 * it is used from; an unknown address (null) is in no allow list.
 */
const liveCredentials = `
  select asked.position::text, t.token_hash, u.role, u.email, u.full_name,
         case when t.is_narrowed then array_to_string(t.scopes, ' ') end,
         coalesce(t.allow_list = '{}' or asked.address <<= any(t.allow_list), false)
           and coalesce(p.allow_list is null or p.allow_list = '{}' or asked.address <<= any(p.allow_list), false)
  from unnest($1::uuid[], $5::inet[]) with ordinality as asked (id, address, position)
    join personal_access_tokens t on t.id = asked.id
    join users u on u.id = t.owner_id
    left join token_policies p on p.org_id = t.org_id
  where t.status = 'active' and u.removed_at is null
    and (t.expires_at is null or t.expires_at > $4)
  union all
  select s.id::text, s.token_hash, u.role, u.email, u.full_name, null, true
  from sessions s join users u on u.id = s.user_id
  where s.id = any($2::uuid[]) and s.ended_at is null and u.removed_at is null
  union all
  select c.id::text, c.token_hash, 'member', '', '', null, true
  from service_credentials c where c.id = any($3::uuid[])`;

export interface LivenessQuestion {
  readonly tokens: readonly { readonly id: string; readonly address: string | null }[];
  readonly sessionIds: readonly string[];
  readonly serviceCredentialIds: readonly string[];
  readonly now: Date;
}

/**
 * Finds the credentials that are live. Verification has checked the signed expiry; that of a token may have moved closer
 * since, when it was rotated.
 */
export async function findLiveCredentials(db: pg.Pool, question: LivenessQuestion): Promise<LivenessRow[]> {
  const { tokens, sessionIds, serviceCredentialIds, now } = question;
  const values = [
    tokens.map(({ id }) => id),
    sessionIds,
    serviceCredentialIds,
    now,
    tokens.map(({ address }) => address),
  ];
  const { rows } = await db.query<LivenessRow>({
    name: 'live_credentials',
    text: liveCredentials,
    values,
    rowMode: 'array',
  });
  return rows;
}
