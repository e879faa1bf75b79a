import type { PageWindow } from '@platform/service-kit';
import type pg from 'pg';

/** What acted for the actor: told by the audit, so that what a stolen token did can be found. */
export interface ActingCredential {
  readonly kind: string;
  readonly id: string;
}

export interface NewToken {
  readonly id: string;
  readonly orgId: string;
  readonly ownerId: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly tokenHash: string;
  readonly signingKeyId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly auditId: string;
  readonly credential: ActingCredential;
}

export interface TokenRow {
  readonly id: string;
  readonly name: string;
  readonly scopes: string[];
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly last_used_at: Date | null;
}

export interface OwnedTokenRow extends TokenRow {
  readonly owner_id: string;
  readonly email: string;
  readonly full_name: string;
  readonly is_owner_removed: boolean;
}

/* A token and its audit entry are one statement: one round trip, and never one without the other. */
const insert = `
  with token as (
    insert into personal_access_tokens
      (id, org_id, owner_id, name, scopes, token_hash, signing_key_id, created_at, expires_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    returning id, org_id, owner_id, name, created_at
  )
  insert into audit_entries (id, org_id, action, actor_id, subject_id, detail, created_at)
  select $10, org_id, 'token.created', owner_id, id, jsonb_build_object('name', name, 'credential', $11::jsonb), created_at from token`;

export const insertToken = (db: pg.Pool, token: NewToken): Promise<unknown> =>
  db.query({
    name: 'insert_token',
    text: insert,
    values: [
      token.id,
      token.orgId,
      token.ownerId,
      token.name,
      token.scopes,
      token.tokenHash,
      token.signingKeyId,
      token.createdAt,
      token.expiresAt,
      token.auditId,
      JSON.stringify(token.credential),
    ],
  });

/* `status` is 'active' until the sweeper has met an expired token, so expiry is asked as well. */
const isActive = `status = 'active' and (expires_at is null or expires_at > $2)`;

const ownTokens = `
  select t.id, t.name, t.scopes, t.created_at, t.expires_at, used.last_used_at
  from (
    select id from personal_access_tokens where owner_id = $1 and ${isActive} and id < $4 order by id desc limit $3
  ) page
    join personal_access_tokens t using (id)
    left join token_last_used used on used.token_id = t.id
  order by t.id desc`;

/** After every UUIDv7: a bound that is always there is a condition of the index. */
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The owner's active tokens, newest first. @param page.after - the last id of the page before. */
export async function findOwnTokens(
  db: pg.Pool,
  page: {
    readonly ownerId: string;
    readonly now: Date;
    readonly limit: number;
    readonly after: string | undefined;
  },
): Promise<TokenRow[]> {
  const { ownerId, now, limit, after = LAST_ID } = page;
  const { rows } = await db.query<TokenRow>({
    name: 'own_tokens',
    text: ownTokens,
    values: [ownerId, now, limit, after],
  });
  return rows;
}

/*
 * What the counter says, less those that have expired since the sweeper came by: a range of
 * `tokens_to_expire` that is as long as a minute's expiries.
 */
const total = `
  select counters.active_tokens - (
    select count(*) from personal_access_tokens
    where status = 'active' and expires_at <= $2 and org_id = $1
  ) as total
  from organisation_counters counters where org_id = $1`;

export async function countActiveTokens(db: pg.Pool, orgId: string, now: Date): Promise<number> {
  const { rows } = await db.query<{ total: string }>({
    name: 'count_tokens',
    text: total,
    values: [orgId, now],
  });
  return Number(rows[0]?.total ?? 0);
}

/* The page is found by an index-only scan of `tokens_of_org`; only its rows are read. */
const orgTokens = (direction: 'asc' | 'desc') => `
  select t.id, t.name, t.scopes, t.created_at, t.expires_at, used.last_used_at,
    t.owner_id, u.email, u.full_name, u.removed_at is not null as is_owner_removed
  from (
    select id from personal_access_tokens
    where org_id = $1 and ${isActive} order by id ${direction} limit $3 offset $4
  ) page
    join personal_access_tokens t using (id)
    join users u on u.id = t.owner_id
    left join token_last_used used on used.token_id = t.id
  order by t.id desc`;
const orgTokensFromStart = orgTokens('desc');
const orgTokensFromEnd = orgTokens('asc');

/** A page of the organisation's active tokens, newest first, removed owners included. */
export async function findOrgTokens(
  db: pg.Pool,
  orgId: string,
  now: Date,
  { isFromEnd, offset, count }: PageWindow,
): Promise<OwnedTokenRow[]> {
  const { rows } = await db.query<OwnedTokenRow>({
    name: isFromEnd ? 'org_tokens_from_end' : 'org_tokens_from_start',
    text: isFromEnd ? orgTokensFromEnd : orgTokensFromStart,
    values: [orgId, now, count, offset],
  });
  return rows;
}

export interface Revocation {
  readonly tokenId: string;
  readonly orgId: string;
  /** Undefined: whoever owns it. */
  readonly ownerId: string | undefined;
  readonly actorId: string;
  readonly reason: string | null;
  readonly at: Date;
  readonly auditId: string;
  readonly credential: ActingCredential;
}

const revoke = `
  with revoked as (
    update personal_access_tokens
    set status = 'revoked', revoked_at = $2, revoked_by = $5, revoked_reason = $6
    where id = $1 and org_id = $3 and ($4::uuid is null or owner_id = $4) and ${isActive}
    returning id, org_id
  )
  insert into audit_entries (id, org_id, action, actor_id, subject_id, reason, detail, created_at)
  select $7, org_id, 'token.revoked', $5, id, $6, jsonb_build_object('credential', $8::jsonb), $2 from revoked`;

/** @returns whether there was such an active token. */
export async function revokeToken(db: pg.Pool, revocation: Revocation): Promise<boolean> {
  const { tokenId, at, orgId, ownerId, actorId, reason, auditId, credential } = revocation;
  const { rowCount } = await db.query({
    name: 'revoke_token',
    text: revoke,
    values: [tokenId, at, orgId, ownerId ?? null, actorId, reason, auditId, JSON.stringify(credential)],
  });
  return rowCount === 1;
}
