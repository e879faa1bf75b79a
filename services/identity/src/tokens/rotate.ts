import { insufficientScope, type Scope, standardAuthErrors, type UserPrincipal } from '@platform/auth';
import { type FaultDetail, inTransaction, validationError } from '@platform/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { insertAuditEntry } from '../audit/record.sql.js';
import { type Caller, toActor } from '../base/caller/actor.js';
import { isNarrower, readAllowList } from '../credentials/allow-lists/ranges.js';
import { type AlertRequest, ALERTS_PER_HOUR, storeAlert } from '../mails/alerts.js';
import type { TokenContext } from './context.js';
import { type Creator, insertToken, lockOwnerAndCreator, toAuditedBounds } from './create.js';
import {
  sessionRequiredToRotate,
  tokenAlreadyRotated,
  tokenNotFound,
  tooManyPredecessors,
} from './errors.js';
import { grantExpiry } from './grant.js';
import { assertScopesAllowed, limitExpiry } from './policy/policy.js';
import { findTokenPolicy } from './policy/queries.js';
import { lockTokenOwner, REVOKE_TIMEOUT_MS, revokeLockedTokens } from './revoke.js';
import { DEFAULT_GRACE_SECONDS, type RotatedToken, type RotateOptions } from './schemas.js';
import { getOwnerColumn, isInFamily, type TokenDetailsRow, type TokenOwner, toState } from './token.js';

/*
 * A rotation replaces a token by a new one with the same name, bounds and place in its family. The new one has the same scopes
 * and allow list, or fewer: then it is narrowed, and what the old one created, which could exceed it, is revoked.
 *
 *   without a grace   the old token is revoked at once, and what it created belongs to the new one
 *   with a grace      the old token works until the grace ends, and keeps what it created; then the expiry job revokes it
 *                     and moves its children to the new one
 *
 * Predecessors that still work point to the newest token, so that a revocation finds them.
 */

/** @throws AppError 403 when the new token would have a scope that the calling token lacks. */
function assertCanHold(caller: UserPrincipal, scopes: readonly string[]): void {
  if (caller.kind === 'session') return;
  const missing = scopes.filter((scope) => !caller.grantedScopes.has(scope)) as Scope[];
  if (missing.length > 0) throw insufficientScope(standardAuthErrors, missing);
}

const toLifetimeMs = ({ created_at: from, expires_at: to }: RotatableRow): number | null =>
  to === null ? null : to.getTime() - from.getTime();

const rotatable = (ownerColumn: 'owner_id' | 'service_account_id') => `
  select name, description, allow_list, bounds, mutes_notices, scopes, parent_id, lineage_id, created_at, expires_at, status::text,
    successor_id
  from personal_access_tokens where id = $1 and ${ownerColumn} = $2 for no key update`;
type RotatableRow = Pick<
  TokenDetailsRow,
  | 'name'
  | 'description'
  | 'allow_list'
  | 'bounds'
  | 'mutes_notices'
  | 'scopes'
  | 'parent_id'
  | 'created_at'
  | 'expires_at'
  | 'status'
  | 'successor_id'
> & { readonly lineage_id: string | null };

/** @throws AppError 404; 409 when it has been rotated. */
function assertRotatable<Row extends Pick<TokenDetailsRow, 'expires_at' | 'status' | 'successor_id'>>(
  row: Row | undefined,
  now: number,
): Row {
  if (row?.successor_id) throw tokenAlreadyRotated();
  if (!row || toState(row, now) !== 'active') throw tokenNotFound();
  return row;
}

/**
 * A token rotates only its descendants, so that whoever stole it can't leave its family, and only those within its allow
 * list.
 *
 * @throws AppError 403 SESSION_REQUIRED.
 */
async function assertOwnFamily(
  client: pg.PoolClient,
  tokenId: string,
  allowList: readonly string[],
  creator: Creator,
): Promise<void> {
  if (creator.tokenId === null) return;
  const isWithin = isNarrower(allowList, creator.allowList);
  if (!isWithin || !(await isInFamily(client, tokenId, creator.tokenId))) throw sessionRequiredToRotate();
}

/** @throws AppError 400 that names each scope that the token lacks. */
function narrowScopes(current: readonly string[], wanted: readonly string[]): string[] {
  const faults: FaultDetail[] = wanted.flatMap((scope, index) =>
    current.includes(scope)
      ? []
      : [
          {
            field: `scopes.${index}`,
            message: `the token lacks ${JSON.stringify(scope)}: a rotation only removes scopes`,
          },
        ],
  );
  if (faults.length > 0) throw validationError(faults);
  return current.filter((scope) => wanted.includes(scope));
}

/** @throws AppError 400 for an invalid range, or one outside of the current list. */
function narrowAllowList(current: readonly string[], wanted: readonly string[]): string[] {
  const list = readAllowList(wanted);
  if (isNarrower(list, current)) return list;
  throw validationError([
    { field: 'allowList', message: `must lie within the current list: ${current.join(', ')}` },
  ]);
}

/** Returns what the new token grants. @throws AppError 400 when it would be more than the old one does. */
function narrow(old: RotatableRow, options: RotateOptions) {
  const allowList = readAllowList(old.allow_list);
  const kept = {
    scopes: options.scopes ? narrowScopes(old.scopes, options.scopes) : old.scopes,
    allowList: options.allowList ? narrowAllowList(allowList, options.allowList) : allowList,
  };
  const isNarrowed = kept.scopes.length < old.scopes.length || !isNarrower(allowList, kept.allowList);
  return { ...kept, isNarrowed };
}

const retire = `
  update personal_access_tokens
  set successor_id = $2, status = 'revoked', revoked_at = $3, revoked_by = $4, revoked_reason = 'rotated'
  where id = $1`;
const retireLater = `
  update personal_access_tokens set successor_id = $2, expires_at = least(expires_at, $3) where id = $1`;
const repointPredecessors = `
  update personal_access_tokens set successor_id = $2 where successor_id = $1 and status = 'active' and id <> $1`;
const adoptChildren = `
  update personal_access_tokens set parent_id = $2 where parent_id = $1 and status = 'active'`;

const countPredecessors = `
  select count(*)::int as count from personal_access_tokens where successor_id = $1 and status = 'active'`;
/** The predecessors of a token that a grace keeps: whoever rotates in a loop cannot fill the table. */
const MAX_PREDECESSORS = 10;

/** @throws AppError 409 when the token has as many predecessors in their grace as it may have. */
async function assertRoomForPredecessor(client: pg.PoolClient, tokenId: string): Promise<void> {
  const { rows } = await client.query<{ count: number }>(countPredecessors, [tokenId]);
  if ((rows[0]?.count ?? 0) >= MAX_PREDECESSORS) throw tooManyPredecessors(MAX_PREDECESSORS);
}

/** Revokes what the token created, and what its predecessors did, at once. @returns how many tokens. */
async function revokeDescendants(
  client: pg.PoolClient,
  caller: Caller,
  tokenId: string,
  at: Date,
): Promise<number> {
  const revocation = {
    tokenId,
    ownerId: undefined,
    by: caller,
    reason: 'narrowed',
    keepsDescendants: false,
    at,
  };
  return revokeLockedTokens(client, { ...revocation, onlyDescendants: true });
}

/** Returns the alert to the owner about a token that a token made: whoever stole one could stay by rotating it. */
const composeAlert = (
  { userId, client }: Caller,
  { name, createdAt }: { readonly name: string; readonly createdAt: Date },
): AlertRequest => ({
  topic: 'token-rotated',
  causedBy: userId,
  recipients: [userId],
  tokenOwnerId: userId,
  alert: { notice: 'tokenRotated', name, state: 'rotated' },
  summary: { notice: 'manyTokensRotated', limit: String(ALERTS_PER_HOUR) },
  client,
  isMerged: true,
  at: createdAt,
});

interface Retirement {
  readonly tokenId: string;
  readonly successorId: string;
  /** Undefined for at once. */
  readonly graceEndsAt: Date | undefined;
  readonly at: Date;
}

/** Ends the token, at once or when the grace ends, and records it. */
async function retireToken(
  client: pg.PoolClient,
  caller: Caller,
  { tokenId, successorId, graceEndsAt, at }: Retirement,
): Promise<void> {
  const entry = { orgId: caller.orgId, actor: toActor(caller), subjectId: tokenId, at };
  await client.query(repointPredecessors, [tokenId, successorId]);
  const detail = { replacedBy: successorId, graceEndsAt: graceEndsAt?.toISOString() ?? null };
  await insertAuditEntry(client, { ...entry, action: 'token.rotated', detail });
  if (graceEndsAt) {
    await client.query(retireLater, [tokenId, successorId, graceEndsAt]);
    return;
  }
  await client.query(retire, [tokenId, successorId, at, caller.userId]);
  const adoption: pg.QueryConfig & { query_timeout: number } = {
    text: adoptChildren,
    values: [tokenId, successorId],
    query_timeout: REVOKE_TIMEOUT_MS,
  };
  await client.query(adoption);
  await insertAuditEntry(client, {
    ...entry,
    action: 'token.revoked',
    reason: 'rotated',
  });
}

/**
 * Replaces a token of the owner by a new one. The new value is returned only here. Of two rotations at once, the second
 * waits for the first and then finds a token with a successor.
 *
 * @throws AppError 404; 409 when the token or the calling token has been rotated; 403 when the caller lacks a scope of the
 *   new token, or is a token that isn't the token itself or an ancestor of it; 400 when the caller can't grant the expiry, or
 *   for a scope or an address that the old token lacks; 409 when too many predecessors have a grace; 401
 *   when its credential has ended since it was verified.
 */
export async function rotateToken(
  ctx: TokenContext,
  caller: Caller,
  owner: TokenOwner,
  tokenId: string,
  options: RotateOptions = {},
): Promise<RotatedToken> {
  const { graceSeconds = DEFAULT_GRACE_SECONDS, expiryDays } = options;
  const policy = await findTokenPolicy(ctx.prisma, caller.orgId);
  const now = ctx.clock();
  const at = new Date(now);
  const graceEndsAt = graceSeconds === 0 ? undefined : new Date(now + graceSeconds * 1_000);
  const id = uuidv7();
  const { orgId } = caller;
  const { old, token, revokedCount, accessToken } = await inTransaction(ctx.pool, async (client) => {
    const creator = await lockOwnerAndCreator(client, caller, owner, { at, isExclusive: true });
    const { rows } = await client.query<RotatableRow>(rotatable(getOwnerColumn(owner)), [tokenId, owner.id]);
    const locked = assertRotatable(rows[0], now);
    const { scopes, allowList, isNarrowed } = narrow(locked, options);
    assertCanHold(caller, scopes);
    assertScopesAllowed(policy, scopes);
    const granted = grantExpiry(caller, expiryDays, now, toLifetimeMs(locked));
    const expiry = limitExpiry(policy, { expiresAt: granted, isRequested: expiryDays !== undefined, now });
    await assertOwnFamily(client, tokenId, allowList, creator);
    if (graceEndsAt) await assertRoomForPredecessor(client, tokenId);
    // The owner is locked already; this gives the statements about its family as much time as a revocation has.
    await lockTokenOwner(client, tokenId, orgId);
    const created = {
      id,
      orgId,
      owner,
      name: locked.name,
      description: locked.description,
      allowList,
      bounds: locked.bounds,
      mutesNotices: locked.mutes_notices,
      scopes,
      createdAt: at,
      expiresAt: expiry === null ? null : new Date(expiry),
      parentId: locked.parent_id,
      lineageId: creator.tokenId === tokenId ? (locked.lineage_id ?? tokenId) : null,
    };
    const value = await insertToken(ctx, client, created);
    await insertAuditEntry(client, {
      orgId,
      action: 'token.created',
      actor: toActor(caller),
      subjectId: id,
      detail: {
        replaces: tokenId,
        scopes: scopes.join(' '),
        expiresAt: created.expiresAt?.toISOString() ?? null,
        ...(await toAuditedBounds(client, orgId, created.bounds)),
      },
      at,
    });
    const count = isNarrowed ? await revokeDescendants(client, caller, tokenId, at) : 0;
    await retireToken(client, caller, {
      tokenId,
      successorId: id,
      graceEndsAt,
      at,
    });
    if (creator.tokenId !== null) await storeAlert(client, ctx.outbox, composeAlert(caller, created));
    return {
      old: locked,
      token: created,
      revokedCount: count,
      accessToken: value,
    };
  });
  ctx.outbox.wake();
  const endsAt = Math.min((graceEndsAt ?? at).getTime(), old.expires_at?.getTime() ?? Infinity);
  return {
    token: {
      id,
      name: old.name,
      scopes: token.scopes,
      createdAt: at.toISOString(),
      expiresAt: token.expiresAt?.toISOString() ?? null,
      lastUsedAt: null,
      parentId: old.parent_id,
      accessToken,
    },
    replaced: { id: tokenId, endsAt: new Date(endsAt).toISOString() },
    revokedCount,
  };
}
