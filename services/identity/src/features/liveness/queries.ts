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
];

/*
 * One named prepared statement per batch. Credentials and their owners are looked up by primary key, so the cost grows
 * with the batch, not with the tables.
 */
const liveCredentials = `
  select t.id, t.token_hash, u.role, u.email, u.full_name,
         case when t.is_narrowed then array_to_string(t.scopes, ' ') end
  from personal_access_tokens t join users u on u.id = t.owner_id
  where t.id = any($1::uuid[]) and t.status = 'active' and u.removed_at is null
    and (t.expires_at is null or t.expires_at > $4)
  union all
  select s.id, s.token_hash, u.role, u.email, u.full_name, null
  from sessions s join users u on u.id = s.user_id
  where s.id = any($2::uuid[]) and s.ended_at is null and u.removed_at is null
  union all
  select c.id, c.token_hash, 'member', '', '', null from service_credentials c where c.id = any($3::uuid[])`;

/**
 * Finds the credentials that are live. Verification has checked the signed expiry; that of a token may have moved closer
 * since, when it was rotated.
 */
export async function findLiveCredentials(
  db: pg.Pool,
  tokenIds: readonly string[],
  sessionIds: readonly string[],
  serviceCredentialIds: readonly string[],
  now: Date,
): Promise<LivenessRow[]> {
  const values = [tokenIds, sessionIds, serviceCredentialIds, now];
  const { rows } = await db.query<LivenessRow>({
    name: 'live_credentials',
    text: liveCredentials,
    values,
    rowMode: 'array',
  });
  return rows;
}
