import {
  type Bounds,
  formatToken,
  invalidCredential,
  type Scope,
  scopeCatalogue,
  standardAuthErrors,
  toDigest,
  type UserPrincipal,
} from '@platform/auth';
import { inTransaction, validationError } from '@platform/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { insertAuditEntry } from '../audit/record.sql.js';
import { type Caller, toActor } from '../base/caller/actor.js';
import { isSessionOpen } from '../base/open-session.js';
import { isNarrower, readAllowList } from '../credentials/allow-lists/ranges.js';
import {
  createDescribeBounds,
  listBoundChoices,
  type NamedBounds,
  narrowBounds,
  readBounds,
  toChooser,
  toStoredBounds,
} from '../credentials/bounds/bounds.js';
import { type AlertRequest, ALERTS_PER_HOUR, storeAlert } from '../mails/alerts.js';
import { findAdministrators, lockAdministration } from '../members/organisation/administration.js';
import type { TokenContext } from './context.js';
import { tokenAlreadyRotated, tooManyTokens } from './errors.js';
import { canGrant, grantExpiry, grantScopes } from './grant.js';
import { assertScopesAllowed, limitExpiry, type TokenPolicy } from './policy/policy.js';
import { findTokenPolicy } from './policy/queries.js';
import type { CreateTokenBody, GrantableScopes, Token } from './schemas.js';
import { getOwnerColumn, isActive, type TokenDetailsRow, type TokenOwner } from './token.js';

/** A new token as it is requested, whose scopes are known to be grantable. */
export interface TokenRequest extends Omit<CreateTokenBody, 'scopes'> {
  readonly owner: TokenOwner;
  /** Set when the owner is a service account. */
  readonly accountName?: string;
  readonly scopes: readonly string[];
}

export type CreatedToken = Token & { readonly accessToken: string };

/** A new token as it is stored. */
interface NewToken {
  readonly id: string;
  readonly orgId: string;
  readonly owner: TokenOwner;
  readonly name: string;
  readonly description: string | null;
  readonly allowList: readonly string[];
  readonly bounds: Bounds | null;
  readonly mutesNotices: boolean;
  readonly scopes: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly parentId: string | null;
  /** The first of the tokens that rotated themselves into this one; null when something else made it. */
  readonly lineageId: string | null;
}

/*
 * The numbers of active tokens bound what a sweep, a rotation and a revocation have to change at once. Creations at the
 * same time, of which none sees the others, can exceed them by as many. A rotation replaces a token, so the predecessors that
 * a grace keeps are not counted here; each token has a few of them at most.
 */
const MAX_OWNED = 10_000;
const MAX_CREATED_BY_TOKEN = 1_000;

const countTokens = (ownerColumn: 'owner_id' | 'service_account_id') => `
  select
    (select count(*)::int from (
      select from personal_access_tokens
      where ${ownerColumn} = $1 and status = 'active' and successor_id is null limit ${MAX_OWNED}) owned) as owned,
    (select count(*)::int from (
      select from personal_access_tokens where parent_id = $2 and status = 'active' limit ${MAX_CREATED_BY_TOKEN}) child) as created`;

/**
 * @param creatorId - the token that creates another one; null when none does.
 * @throws AppError 409 when the owner or the creating token has as many active tokens as it may have.
 */
async function assertRoomForToken(
  client: pg.PoolClient,
  owner: TokenOwner,
  creatorId: string | null,
): Promise<void> {
  const { rows } = await client.query<{ owned: number; created: number }>(
    countTokens(getOwnerColumn(owner)),
    [owner.id, creatorId],
  );
  const [{ owned, created } = { owned: 0, created: 0 }] = rows;
  if (owned >= MAX_OWNED) throw tooManyTokens(`The owner has ${MAX_OWNED} active tokens`);
  if (created >= MAX_CREATED_BY_TOKEN)
    throw tooManyTokens(`The creating token has ${MAX_CREATED_BY_TOKEN} active tokens below it`);
}

const lockOwner = (owners: 'users' | 'service_accounts', lock: 'share' | 'no key update') =>
  `select from ${owners} where id = $1 and org_id = $2 and removed_at is null for ${lock}`;

const activeSession = `
  select from sessions s join organisations o on o.id = s.org_id
  where s.id = $1 and s.user_id = $2 and ${isSessionOpen('s', 'o')} and s.expires_at > $3 for share of s`;

const creatingToken = `
  select allow_list, bounds, successor_id, ${isActive} as "isActive" from personal_access_tokens
  where id = $1 and owner_id = $3 for share`;

/** The credential that creates or rotates a token. */
export interface Creator {
  /** Null for a session, which may be used from anywhere. */
  readonly tokenId: string | null;
  readonly allowList: readonly string[];
  readonly bounds: Bounds;
}

/**
 * Locks the owner of the token that is created or replaced, then the caller's credential, which must still be active.
 * Revocations lock the owner as well: a creation that waits for one then sees the creator revoked, and a
 * revocation that waits for a creation sees the new token. For a service account, the caller is an administrator.
 *
 * @param options.isExclusive - whether other creations for this owner wait, as for a rotation, which has to see every child of
 *   the token; revocations always do.
 * @throws AppError 401 when the credential has ended since it was verified; 403 ADMIN_REQUIRED; 409 when it is a token that
 *   has been rotated.
 */
export async function lockOwnerAndCreator(
  client: pg.PoolClient,
  caller: Caller,
  owner: TokenOwner,
  { at, isExclusive = false }: { readonly at: Date; readonly isExclusive?: boolean },
): Promise<Creator> {
  const { kind, credentialId, userId, orgId } = caller;
  if (owner.isServiceAccount) await lockAdministration(client, caller);
  const lock = lockOwner(
    owner.isServiceAccount ? 'service_accounts' : 'users',
    isExclusive ? 'no key update' : 'share',
  );
  if ((await client.query(lock, [owner.id, orgId])).rowCount === 0)
    throw invalidCredential(standardAuthErrors);
  if (kind !== 'pat') {
    const { rowCount } = await client.query(activeSession, [credentialId, userId, at]);
    if (rowCount === 0) throw invalidCredential(standardAuthErrors);
    return { tokenId: null, allowList: [], bounds: {} };
  }
  const { rows } = await client.query<
    Pick<TokenDetailsRow, 'allow_list' | 'bounds' | 'successor_id'> & { readonly isActive: boolean }
  >(creatingToken, [credentialId, at, userId]);
  const [token] = rows;
  if (token?.successor_id) throw tokenAlreadyRotated();
  if (!token?.isActive) throw invalidCredential(standardAuthErrors);
  return {
    tokenId: credentialId,
    allowList: readAllowList(token.allow_list),
    bounds: token.bounds ?? {},
  };
}

const insert = (ownerColumn: 'owner_id' | 'service_account_id') => `
  insert into personal_access_tokens
    (id, org_id, ${ownerColumn}, name, description, allow_list, bounds, mutes_notices, scopes, token_hash, signing_key_id, created_at,
     expires_at, parent_id, lineage_id)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`;

/** Signs and stores a token. @returns its value, which is shown once. */
export async function insertToken(
  { keys, tokenPrefix }: Pick<TokenContext, 'keys' | 'tokenPrefix'>,
  client: pg.PoolClient,
  token: NewToken,
): Promise<string> {
  const { id, orgId, owner, scopes, createdAt, expiresAt } = token;
  const { token: jwt, keyId } = await keys.mint({
    sub: owner.id,
    org: orgId,
    jti: id,
    kind: 'pat',
    scope: scopes.join(' '),
    iat: Math.floor(createdAt.getTime() / 1_000),
    ...(expiresAt && { exp: expiresAt.getTime() / 1_000 }),
  });
  await client.query(insert(getOwnerColumn(owner)), [
    id,
    orgId,
    owner.id,
    token.name,
    token.description,
    token.allowList,
    token.bounds,
    token.mutesNotices,
    scopes,
    toDigest(jwt),
    keyId,
    createdAt,
    expiresAt,
    token.parentId,
    token.lineageId,
  ]);
  return formatToken(tokenPrefix, jwt);
}

/** Returns the alert about a new token: to its owner, or to the administrators for a service account, which reads none. */
async function composeAlert(
  { prisma }: Pick<TokenContext, 'prisma'>,
  caller: Caller,
  { owner, accountName = '', name, scopes }: TokenRequest,
  { createdAt, expiresAt }: { readonly createdAt: Date; readonly expiresAt: Date | null },
): Promise<AlertRequest> {
  const recipients = owner.isServiceAccount ? await findAdministrators(prisma, caller.orgId) : [owner];
  return {
    topic: owner.isServiceAccount ? 'account-token-created' : 'token-created',
    causedBy: owner.isServiceAccount ? caller.orgId : owner.id,
    recipients: recipients.map(({ id }) => id),
    tokenOwnerId: owner.isServiceAccount ? null : owner.id,
    alert: {
      notice: 'tokenCreated',
      name,
      account: accountName,
      scopes: scopes.join(', '),
      by: `${caller.fullName} (${caller.email})`,
      ...(expiresAt
        ? { state: 'expires', expiresAt: expiresAt.toISOString().slice(0, 10) }
        : { state: 'neverExpires' }),
    },
    summary: { notice: 'manyTokensCreated', account: accountName, limit: String(ALERTS_PER_HOUR) },
    client: caller.client,
    isMerged: true,
    at: createdAt,
  };
}

/** Returns the bounds for the audit, by the names that the servers have at that time. */
export async function toAuditedBounds(
  client: pg.PoolClient,
  orgId: string,
  bounds: Bounds | null,
): Promise<{ readonly bounds?: string }> {
  if (!bounds) return {};
  return { bounds: JSON.stringify((await createDescribeBounds(client, orgId, [{ bounds }]))(bounds)) };
}

/** Lists what the caller can limit a token to. */
export const listOwnBoundChoices = (
  { pool }: TokenContext,
  principal: UserPrincipal,
): Promise<Required<NamedBounds>> => listBoundChoices(pool, toChooser(principal), principal.bounds);

/**
 * Creates a token within the policy, with its audit entry and the mails about it. It has the allow list and the bounds of the
 * creating token, or narrower ones.
 *
 * @throws AppError 400 for the expiry, the allow list or the bounds; 401 when the caller's credential has ended since it was
 *   verified; 409 when it is a token that has been rotated, or when there are too many active tokens.
 */
export async function createTokenFor(
  ctx: TokenContext,
  caller: Caller,
  policy: TokenPolicy,
  request: TokenRequest,
): Promise<CreatedToken> {
  const { owner, name, description = null, scopes, expiryDays } = request;
  const now = ctx.clock();
  const granted = grantExpiry(caller, expiryDays, now);
  const expiry = limitExpiry(policy, { expiresAt: granted, isRequested: expiryDays !== undefined, now });
  const allowList = readAllowList(request.allowList ?? []);
  const { orgId } = caller;
  const chooser = owner.isServiceAccount ? { orgId, groups: null } : toChooser(caller);
  const wanted = await readBounds(ctx.pool, chooser, request.bounds ?? {});
  const id = uuidv7();
  const createdAt = new Date(now);
  const expiresAt = expiry === null ? null : new Date(expiry);
  const alert = await composeAlert(ctx, caller, request, { createdAt, expiresAt });
  const { accessToken, parentId } = await inTransaction(ctx.pool, async (client) => {
    const creator = await lockOwnerAndCreator(client, caller, owner, { at: createdAt });
    if (allowList.length > 0 && !isNarrower(allowList, creator.allowList))
      throw validationError([
        { field: 'allowList', message: 'must lie within the allow list of the token that creates this one' },
      ]);
    const bounds = toStoredBounds(narrowBounds(wanted, creator.bounds));
    await assertRoomForToken(client, owner, creator.tokenId);
    const value = await insertToken(ctx, client, {
      id,
      orgId,
      owner,
      name,
      description,
      allowList: allowList.length > 0 ? allowList : creator.allowList,
      bounds,
      mutesNotices: false,
      scopes,
      createdAt,
      expiresAt,
      parentId: creator.tokenId,
      lineageId: null,
    });
    await insertAuditEntry(client, {
      orgId,
      action: 'token.created',
      actor: toActor(caller),
      subjectId: id,
      detail: {
        name,
        scopes: scopes.join(' '),
        expiresAt: expiresAt?.toISOString() ?? null,
        ...(await toAuditedBounds(client, orgId, bounds)),
      },
      at: createdAt,
    });
    await storeAlert(client, ctx.outbox, alert);
    return { accessToken: value, parentId: creator.tokenId };
  });
  ctx.outbox.wake();
  return {
    id,
    name,
    scopes: [...scopes],
    lastUsedAt: null,
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt?.toISOString() ?? null,
    parentId,
    accessToken,
  };
}

/**
 * Creates a token of the caller. Its value is returned only here.
 *
 * @throws AppError 400 when the caller can't grant the scopes, the expiry, the allow list or the bounds; 401 when the caller's
 *   credential has ended since it was verified; 409 when it is a token that has been rotated.
 */
export async function createOwnToken(
  ctx: TokenContext,
  caller: Caller,
  { scopes: requested, ...body }: CreateTokenBody,
): Promise<CreatedToken> {
  const policy = await findTokenPolicy(ctx.prisma, caller.orgId);
  assertScopesAllowed(policy, requested ?? []);
  const allowed = ctx.defaultScopes.filter((scope) => !policy.deniedScopes.includes(scope));
  const owner = { id: caller.userId, isServiceAccount: false };
  const scopes = grantScopes(caller, requested, allowed);
  return createTokenFor(ctx, caller, policy, { ...body, owner, scopes });
}

/** Returns the scopes that can be offered, by category; a category without any is left out. */
export const listScopeGroups = (
  defaults: readonly Scope[],
  isOffered: (scope: Scope) => boolean,
): GrantableScopes['scopes'] =>
  scopeCatalogue
    .map(({ category, scopes }) => ({
      category,
      scopes: scopes
        .filter(({ name }) => isOffered(name))
        .map(({ name, description, isAdminOnly, isForAdmins }) => ({
          name,
          description,
          default: defaults.includes(name),
          adminOnly: isAdminOnly,
          forAdmins: isForAdmins,
        })),
    }))
    .filter(({ scopes }) => scopes.length > 0);

/** Returns the scopes that the caller can grant and the policy of the organisation allows, by category. */
export async function listGrantableScopes(
  { prisma, defaultScopes }: TokenContext,
  principal: UserPrincipal,
): Promise<GrantableScopes['scopes']> {
  const { deniedScopes } = await findTokenPolicy(prisma, principal.orgId);
  return listScopeGroups(defaultScopes, (name) => canGrant(principal, name) && !deniedScopes.includes(name));
}
