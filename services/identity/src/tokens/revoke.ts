import { inTransaction } from '@platform/service-kit';
import type pg from 'pg';
import { insertFactsOfEntries } from '../audit/record.sql.js';
import type { AccountCaller } from '../base/caller/actor.js';
import { storeAlert } from '../mails/alerts.js';
import type { TokenContext } from './context.js';
import { sessionRequiredOutsideFamily, sessionRequiredToKeepDescendants, tokenNotFound } from './errors.js';
import type { RevokeOptions } from './schemas.js';
import { isActive, isInFamily } from './token.js';
import { isStillRevocable } from './unused.js';

/** The caller who revokes, or the platform, which has no credential. It has a user when it acts for an administrator. */
export type Revoker =
  | AccountCaller
  | {
      readonly orgId: string;
      readonly userId: string | null;
      readonly kind: null;
      readonly credentialId: null;
      readonly client: null;
    };

export const platformRevoker = (orgId: string): Revoker => ({
  orgId,
  userId: null,
  kind: null,
  credentialId: null,
  client: null,
});

export interface Revocation {
  readonly tokenId: string;
  /** Undefined matches any owner. */
  readonly ownerId: string | undefined;
  readonly by: Revoker;
  readonly reason: string | null;
  readonly keepsDescendants: boolean;
  /** Whether the token is revoked only while it is unused and its owner was warned. */
  readonly onlyIfUnused?: boolean;
  /** Whether descendants are revoked also when the token itself has ended. */
  readonly evenIfEnded?: boolean;
  /** Whether only what the token and its predecessors created is revoked. */
  readonly onlyDescendants?: boolean;
  readonly at: Date;
  /** Stores who is notified of the revocation, in its transaction. */
  readonly report?: (client: pg.PoolClient, token: RevokedToken) => Promise<void>;
}

export interface RevokedToken {
  /** Null for a service account. */
  readonly ownerId: string | null;
  readonly name: string;
  /** The number of revoked tokens, including this one. */
  readonly count: number;
}

/** Changing a family of a hundred thousand tokens takes seconds; a single token takes a few milliseconds. */
export const REVOKE_TIMEOUT_MS = 30_000;
/** Locks time out as soon as in any other statement. */
const LOCK_TIMEOUT_MS = 1_000;

/*
 * The lock on the owner's row serialises revocations with creations by the owner's tokens, so that the next statement
 * sees every token that was created before it.
 */
const lockOwner = `
  with member as (
    select owner.id, token.name from personal_access_tokens token join users owner on owner.id = token.owner_id
    where token.id = $1 and token.org_id = $2 for no key update of owner
  ), account as (
    select owner.id, token.name from personal_access_tokens token join service_accounts owner on owner.id = token.service_account_id
    where token.id = $1 and token.org_id = $2 for no key update of owner
  )
  select member.id as "ownerId", coalesce(member.name, account.name) as name,
    set_config('statement_timeout', $3, true), set_config('lock_timeout', $4, true)
  from member full join account using (id)`;

/**
 * Returns the SQL that finds the tokens right below those of the table expression `family`: their children, and the
 * predecessors that a rotation left working. It reads a range of the indexes `tokens_of_parent` and `tokens_of_successor`,
 * which exclude ended tokens. Tokens that have expired since the last run of the expiry job are included, because a token
 * can outlive its creator.
 *
 * @param withChildren - the condition under which children belong to the family.
 */
const selectFamilyMembers = (withChildren: string): string => `
    select member.id from family cross join lateral (
      select id from personal_access_tokens where parent_id = family.id and status = 'active' and ${withChildren}
      union all
      select id from personal_access_tokens where successor_id = family.id and status = 'active'
    ) member`;

/*
 * Revokes the token and all its descendants, with their audit entries, in one statement. The predecessors that a rotation
 * left working are revoked with it. With `$7` the descendants stay: they become children of the token's parent, or of its
 * successor when it has one, so that they are revoked with that one. The ids are an array: a join with the family, whose size
 * the planner guesses, can compare each of its tokens with each other one.
 */
const revokeFrom = (seed: string) => `
  with recursive family as (
    select id from personal_access_tokens where org_id = $3 and ${seed}
    union ${selectFamilyMembers('not $7::boolean')}
  ), successor as (
    select coalesce(successor_id, parent_id) as id from personal_access_tokens where id = $1
  ), kept as (
    update personal_access_tokens child set parent_id = (select id from successor)
    where child.parent_id = any(array(select id from family)) and child.status = 'active' and $7::boolean
  ), revoked as (
    update personal_access_tokens token
    set status = 'revoked', revoked_at = $2, revoked_by = (select id from users where id = $5), revoked_reason = $6
    where token.id = any(array(select id from family)) and ${isActive}
    returning token.id, token.org_id
  ), entry as (
    insert into audit_entries
      (id, org_id, action, actor_id, credential_kind, credential_id, address, user_agent, request_id, subject_id, reason, detail, created_at)
    select uuid_v7($2), org_id, 'token.revoked', $5, $8, $9, $10, $11, $12, id, $6,
           case when id = $1 then '{}'::jsonb else jsonb_build_object('revokedWith', $1::text) end, $2
    from revoked
    returning *
  ) ${insertFactsOfEntries('entry')}`;
const theToken = `id = $1 and ($4::uuid is null or $4 in (owner_id, service_account_id)) and ${isActive}`;
const revokeAnyway = revokeFrom(theToken);
const revokeUnused = revokeFrom(`${theToken} and ${isStillRevocable('personal_access_tokens.id', '$2')}`);
const revokeEnded = revokeFrom(`id = $1 and $4::uuid is null`);
const revokeDescendants = revokeFrom(`status = 'active' and $4::uuid is null and parent_id in (
      select $1::uuid union all select id from personal_access_tokens where successor_id = $1 and status = 'active')`);

/** Locks the owner of the token, until the transaction ends. @returns undefined for an unknown token. */
export async function lockTokenOwner(
  client: pg.PoolClient,
  tokenId: string,
  orgId: string,
): Promise<Omit<RevokedToken, 'count'> | undefined> {
  const timeouts = [String(REVOKE_TIMEOUT_MS), String(LOCK_TIMEOUT_MS)];
  const { rows } = await client.query<Omit<RevokedToken, 'count'>>(lockOwner, [tokenId, orgId, ...timeouts]);
  return rows[0];
}

function chooseStatement(only: Pick<Revocation, 'onlyDescendants' | 'onlyIfUnused' | 'evenIfEnded'>): string {
  if (only.onlyDescendants) return revokeDescendants;
  if (only.onlyIfUnused) return revokeUnused;
  return only.evenIfEnded ? revokeEnded : revokeAnyway;
}

/** Revokes a token whose owner is locked. @returns how many tokens were revoked; 0 when there was no such active token. */
export async function revokeLockedTokens(
  client: pg.PoolClient,
  { tokenId, ownerId, by, reason, keepsDescendants, at, ...only }: Omit<Revocation, 'report'>,
): Promise<number> {
  const query: pg.QueryConfig & { query_timeout: number } = {
    text: chooseStatement(only),
    values: [
      tokenId,
      at,
      by.orgId,
      ownerId ?? null,
      by.userId,
      reason,
      keepsDescendants,
      by.kind,
      by.credentialId,
      by.client?.address ?? null,
      by.client?.userAgent ?? null,
      by.client?.requestId ?? null,
    ],
    query_timeout: REVOKE_TIMEOUT_MS,
  };
  const { rowCount } = await client.query(query);
  return rowCount ?? 0;
}

/** @returns how many tokens were revoked; 0 when there was no such active token. */
export const revokeTokens = (pool: pg.Pool, { report, ...revocation }: Revocation): Promise<number> =>
  inTransaction(pool, async (client) => {
    const { tokenId, by } = revocation;
    const token = await lockTokenOwner(client, tokenId, by.orgId);
    const count = await revokeLockedTokens(client, revocation);
    if (count > 0 && token) await report?.(client, { ...token, count });
    return count;
  });

/*
 * The tokens that rotated themselves into one another, of which `$1` is one, and their replacements since `$2`. Of
 * these, the ones below which something is active.
 */
const livingLineage = `
  with recursive lineage as (
    select id, successor_id from personal_access_tokens
    where id = (select coalesce(lineage_id, id) from personal_access_tokens where id = $1)
      or lineage_id = (select coalesce(lineage_id, id) from personal_access_tokens where id = $1)
    union
    select token.id, token.successor_id
    from lineage join personal_access_tokens token on token.id = lineage.successor_id
    where $2::timestamptz is null or token.created_at >= $2
  )
  select id from lineage
  where exists (select from personal_access_tokens where id = lineage.id and status = 'active')
    or exists (select from personal_access_tokens where parent_id = lineage.id and status = 'active')
    or exists (select from personal_access_tokens where successor_id = lineage.id and status = 'active')
  order by id desc`;

/**
 * Revokes the tokens of a lineage in the name of the platform, with all that they created. Whoever holds the value of a
 * token may have rotated it, so tokens that rotated themselves into one another are revoked together, whenever that was. The
 * owner is locked first, so that no rotation can replace the newest token.
 *
 * @param lineage.rotatedSince - ignores earlier rotations by others: what those created stays.
 */
export async function revokeLineage(
  client: pg.PoolClient,
  lineage: {
    readonly tokenId: string;
    readonly orgId: string;
    readonly reason: string;
    readonly rotatedSince?: Date;
    readonly at: Date;
  },
): Promise<void> {
  const { tokenId, orgId, reason, rotatedSince, at } = lineage;
  await lockTokenOwner(client, tokenId, orgId);
  const { rows } = await client.query<{ id: string }>(livingLineage, [tokenId, rotatedSince ?? null]);
  for (const { id } of rows)
    await revokeLockedTokens(client, {
      tokenId: id,
      ownerId: undefined,
      by: platformRevoker(orgId),
      reason,
      keepsDescendants: false,
      evenIfEnded: true,
      at,
    });
}

const ownActiveToken = `select from personal_access_tokens where id = $1 and owner_id = $3 and ${isActive}`;

/**
 * A token reaches only itself and its descendants, so that whoever stole it can't end what watches it.
 *
 * @throws AppError 403 SESSION_REQUIRED; 404 when there is no such active token.
 */
async function assertReachable(
  { pool }: Pick<TokenContext, 'pool'>,
  caller: AccountCaller,
  tokenId: string,
  at: Date,
): Promise<void> {
  if (caller.kind !== 'pat' || (await isInFamily(pool, tokenId, caller.credentialId))) return;
  const { rowCount } = await pool.query(ownActiveToken, [tokenId, at, caller.userId]);
  throw rowCount === 1 ? sessionRequiredOutsideFamily() : tokenNotFound();
}

/**
 * Revokes the token and its descendants, or with `keepDescendants` the token alone, and mails its owner unless it is the
 * caller. The revocation is effective when this returns.
 *
 * @param ownerId - undefined for any member or service account of the organisation.
 * @returns how many tokens were revoked.
 * @throws AppError 404; 403 SESSION_REQUIRED when a token asks for `keepDescendants`, or for a token outside of its family.
 */
export async function revokeToken(
  { pool, clock, outbox }: TokenContext,
  caller: AccountCaller,
  ownerId: string | undefined,
  tokenId: string,
  { reason, keepDescendants: keepsDescendants = false }: RevokeOptions = {},
): Promise<number> {
  if (keepsDescendants && caller.kind !== 'session') throw sessionRequiredToKeepDescendants();
  const at = new Date(clock());
  await assertReachable({ pool }, caller, tokenId, at);
  const count = await revokeTokens(pool, {
    tokenId,
    ownerId,
    by: caller,
    reason: reason ?? null,
    keepsDescendants,
    at,
    async report(client, token) {
      if (token.ownerId === null || token.ownerId === caller.userId) return;
      await storeAlert(client, outbox, {
        topic: 'token-revoked',
        causedBy: `${caller.userId}:${token.ownerId}`,
        recipients: [token.ownerId],
        tokenOwnerId: token.ownerId,
        alert: {
          notice: 'tokenRevoked',
          name: token.name,
          by: `${caller.fullName} (${caller.email})`,
          ...(token.count > 1 && { descendants: String(token.count - 1) }),
          reason: reason ?? '',
        },
        client: caller.client,
        at,
      });
    },
  });
  if (count === 0) throw tokenNotFound();
  outbox.wake();
  return count;
}
