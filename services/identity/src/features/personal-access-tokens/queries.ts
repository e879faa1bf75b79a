import type { PageWindow } from '@platform/service-kit';
import type pg from 'pg';
import { type Caller, getUserAgent } from '../audit/actor.js';
import { auditIdPrefix, createAuditId } from '../audit/queries.js';

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
}

export interface TokenRow {
  readonly id: string;
  readonly name: string;
  readonly scopes: string[];
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly last_used_at: Date | null;
  readonly parent_id: string | null;
}

export interface OwnedTokenRow extends TokenRow {
  readonly owner_id: string;
  readonly email: string;
  readonly full_name: string;
  readonly is_owner_removed: boolean;
}

/*
 * A token and its audit entry are one statement: one round trip, and never one without the other.
 *
 * Nothing is inserted when what makes it has ended by then. The owner is locked before the maker, as a revocation does
 * it: whoever waits for a revocation here sees the maker revoked, and a revocation that waits for this sees the token.
 */
const insertBy = (maker: string, parentId: 'maker.id' | 'null') => `
  with owner as materialized (
    select id from users where id = $3 and org_id = $2 and removed_at is null for no key update
  ), maker as materialized (
    ${maker} for share of maker
  ), token as (
    insert into personal_access_tokens
      (id, org_id, owner_id, name, scopes, token_hash, signing_key_id, created_at, expires_at, parent_id)
    select $1, $2, $3, $4, $5, $6, $7, $8, $9, ${parentId} from maker
    returning id, org_id, owner_id, name, scopes, expires_at, created_at
  )
  insert into audit_entries
    (id, org_id, action, actor_id, credential_kind, credential_id, address, user_agent, subject_id, detail, created_at)
  select $10, org_id, 'token.created', owner_id, $11, $12, $13, $14, id,
         jsonb_build_object('name', name, 'scopes', array_to_string(scopes, ' '), 'expiresAt', $15::text), created_at
  from token`;

const insertBySession = insertBy(
  `select maker.id from owner join sessions maker on maker.user_id = owner.id
    where maker.id = $12::uuid and maker.ended_at is null and maker.expires_at > $8`,
  'null',
);
const insertByToken = insertBy(
  `select maker.id from owner join personal_access_tokens maker on maker.owner_id = owner.id
    where maker.id = $12::uuid and maker.status = 'active' and (maker.expires_at is null or maker.expires_at > $8)`,
  'maker.id',
);

/** @returns false when the credential that makes it, or its owner, has ended meanwhile. */
export async function insertToken(db: pg.Pool, token: NewToken, maker: Caller): Promise<boolean> {
  const isByToken = maker.kind === 'pat';
  const { rowCount } = await db.query({
    name: isByToken ? 'insert_token_by_token' : 'insert_token_by_session',
    text: isByToken ? insertByToken : insertBySession,
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
      createAuditId(token.createdAt),
      maker.kind,
      maker.credentialId,
      maker.client.address,
      getUserAgent(maker.client),
      token.expiresAt?.toISOString() ?? null,
    ],
  });
  return rowCount === 1;
}

/* `status` is 'active' until the sweeper has met an expired token, so expiry is asked as well. */
const isActive = `status = 'active' and (expires_at is null or expires_at > $2)`;

const ownTokens = `
  select t.id, t.name, t.scopes, t.created_at, t.expires_at, t.parent_id, used.last_used_at
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
  select t.id, t.name, t.scopes, t.created_at, t.expires_at, t.parent_id, used.last_used_at,
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
  /** Undefined: whoever owns it. */
  readonly ownerId: string | undefined;
  readonly by: Caller;
  readonly reason: string | null;
  readonly keepsDescendants: boolean;
  readonly at: Date;
}

/** A family of a hundred thousand takes seconds; a single token, a few milliseconds. */
const REVOKE_TIMEOUT_MS = 30_000;
/** What somebody else holds is waited for as briefly as in any other statement. */
const LOCK_TIMEOUT_MS = 1_000;

/*
 * The owner's row makes revocations, and creations by the tokens of the owner, wait for one another: the statement that
 * follows sees every token that was made before it.
 */
const lockOwner = `
  select set_config('statement_timeout', $3, true), set_config('lock_timeout', $4, true)
  from personal_access_tokens token join users owner on owner.id = token.owner_id
  where token.id = $1 and token.org_id = $2
  for no key update of owner`;

/*
 * The token and those that it made, and they, in one statement with their audit entries. Each level is a range of
 * `tokens_of_parent`: ended ones, however many there are, are never read. With `$8` its children stay, and become those
 * of its own parent, so that they go with that one.
 */
const revoke = `
  with recursive family as (
    select id, parent_id from personal_access_tokens
    where id = $1 and org_id = $3 and ($4::uuid is null or owner_id = $4) and ${isActive}
    union all
    select child.id, child.parent_id
    from family join personal_access_tokens child on child.parent_id = family.id
    where child.status = 'active' and (child.expires_at is null or child.expires_at > $2) and not $8::boolean
  ), kept as (
    update personal_access_tokens child set parent_id = family.parent_id
    from family where child.parent_id = family.id and child.status = 'active' and $8::boolean
  ), revoked as (
    update personal_access_tokens token
    set status = 'revoked', revoked_at = $2, revoked_by = $5, revoked_reason = $6
    from family where token.id = family.id and token.status = 'active'
    returning token.id, token.org_id
  )
  insert into audit_entries
    (id, org_id, action, actor_id, credential_kind, credential_id, address, user_agent, subject_id, reason, detail, created_at)
  select ($7::text || substr(gen_random_uuid()::text, 16))::uuid, org_id, 'token.revoked', $5, $9, $10, $11, $12, id, $6,
         case when id = $1 then '{}'::jsonb else jsonb_build_object('revokedWith', $1::text) end, $2
  from revoked`;

/** @returns how many tokens were revoked; 0 when there was no such active token. */
export async function revokeTokens(pool: pg.Pool, revocation: Revocation): Promise<number> {
  const { tokenId, ownerId, by, reason, keepsDescendants, at } = revocation;
  const { kind, credentialId, client: from } = by;
  const client = await pool.connect();
  let isBroken = false;
  try {
    await client.query('begin');
    await client.query(lockOwner, [tokenId, by.orgId, String(REVOKE_TIMEOUT_MS), String(LOCK_TIMEOUT_MS)]);
    const query: pg.QueryConfig & { query_timeout: number } = {
      text: revoke,
      values: [
        tokenId,
        at,
        by.orgId,
        ownerId ?? null,
        by.userId,
        reason,
        auditIdPrefix(at),
        keepsDescendants,
        kind,
        credentialId,
        from.address,
        getUserAgent(from),
      ],
      query_timeout: REVOKE_TIMEOUT_MS,
    };
    const { rowCount } = await client.query(query);
    await client.query('commit');
    return rowCount ?? 0;
  } catch (error) {
    await client.query('rollback').catch(() => {
      isBroken = true;
    });
    throw error;
  } finally {
    client.release(isBroken);
  }
}
