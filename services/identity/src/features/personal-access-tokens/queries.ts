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
 * Inserts a token and its audit entry in one statement, so that neither exists without the other.
 *
 * Nothing is inserted when the creating credential, `maker`, has ended. The owner is locked before the maker, in the same
 * order as by a revocation: a creation that waits for a revocation then sees the maker revoked, and a revocation that
 * waits for a creation sees the new token.
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

/** @returns false when the creating credential has ended, or its owner was removed. */
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

/* An expired token keeps the status 'active' until the expiry job marks it, so the expiry is checked as well. */
const isActive = `status = 'active' and (expires_at is null or expires_at > $2)`;

const ownTokens = `
  select t.id, t.name, t.scopes, t.created_at, t.expires_at, t.parent_id, used.last_used_at
  from (
    select id from personal_access_tokens where owner_id = $1 and ${isActive} and id < $4 order by id desc limit $3
  ) page
    join personal_access_tokens t using (id)
    left join token_last_used used on used.token_id = t.id
  order by t.id desc`;

/** Sorts after every UUIDv7. A bound that is always present lets the index scan use it. */
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Finds the owner's active tokens, newest first. @param page.after - the last id of the previous page. */
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
 * The counter, minus the tokens that have expired since the expiry job last ran. Those are a range of the index
 * `tokens_to_expire`, about as long as the expiries of a minute.
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

/* An index-only scan of `tokens_of_org` finds the page, so that only its rows are read. */
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

/** Finds a page of the organisation's active tokens, newest first, including those of removed owners. */
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
  /** Undefined matches any owner. */
  readonly ownerId: string | undefined;
  readonly by: Caller;
  readonly reason: string | null;
  readonly keepsDescendants: boolean;
  readonly at: Date;
}

/** Revoking a family of a hundred thousand tokens takes seconds; a single token takes a few milliseconds. */
const REVOKE_TIMEOUT_MS = 30_000;
/** Locks time out as soon as in any other statement. */
const LOCK_TIMEOUT_MS = 1_000;

/*
 * The lock on the owner's row serialises revocations with creations by the owner's tokens, so that the next statement
 * sees every token that was created before it.
 */
const lockOwner = `
  select set_config('statement_timeout', $3, true), set_config('lock_timeout', $4, true)
  from personal_access_tokens token join users owner on owner.id = token.owner_id
  where token.id = $1 and token.org_id = $2
  for no key update of owner`;

/*
 * Revokes the token and all its descendants, with their audit entries, in one statement. Each level is a range of the
 * index `tokens_of_parent`, which excludes ended tokens. With `$8` the descendants stay, and the token's children become
 * children of its parent, so that they are revoked with that one.
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
