import {
  insufficientScope,
  invalidCredential,
  type Scope,
  standardAuthErrors,
  type UserPrincipal,
} from '@platform/auth';
import type { Clock } from '@platform/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { Caller } from '../../base/caller/actor.js';
import { sessionRequiredToRotate, tokenAlreadyRotated, tokenNotFound } from '../create/errors.js';
import type { TokenOwner } from '../create/insert.queries.js';
import { grantExpiry } from '../create/grant.js';
import { type MintDeps, mintToken } from '../create/mint.js';
import { findOwnToken, type TokenDetailsRow } from '../edit/queries.js';
import { toState } from '../edit/state.js';
import type { GetPolicy } from '../policy/feature.js';
import { assertScopesAllowed, limitExpiry } from '../policy/policy.js';
import { rotateToken } from './queries.js';
import type { RotatedToken, RotateOptions } from './schemas.js';

/** @throws AppError 403 when the new token would have a scope that the calling token lacks. */
function assertCanHold(caller: UserPrincipal, scopes: readonly string[]): void {
  if (caller.kind === 'session') return;
  const missing = scopes.filter((scope) => !caller.grantedScopes.has(scope)) as Scope[];
  if (missing.length > 0) throw insufficientScope(standardAuthErrors, missing);
}

const toLifetimeMs = ({ created_at: from, expires_at: to }: TokenDetailsRow): number | null =>
  to === null ? null : to.getTime() - from.getTime();

const toDate = (at: number | null): Date | null => (at === null ? null : new Date(at));

/** Creates the service that replaces tokens by new ones. */
export function createTokenRotation(
  deps: MintDeps & {
    readonly pool: pg.Pool;
    readonly clock: Clock;
    readonly getPolicy: GetPolicy;
  },
) {
  const { pool, clock } = deps;

  async function findRotatable(owner: TokenOwner, tokenId: string, now: number): Promise<TokenDetailsRow> {
    const row = await findOwnToken(pool, tokenId, owner.id);
    if (row?.successor_id) throw tokenAlreadyRotated();
    if (!row || toState(row, now) !== 'active') throw tokenNotFound();
    return row;
  }

  async function rotateOf(
    caller: Caller,
    owner: TokenOwner,
    tokenId: string,
    { graceSeconds = 0, expiryDays }: RotateOptions = {},
  ): Promise<RotatedToken> {
    const policy = await deps.getPolicy(caller.orgId);
    const now = clock();
    const old = await findRotatable(owner, tokenId, now);
    const { scopes } = old;
    assertCanHold(caller, scopes);
    assertScopesAllowed(policy, scopes);
    const granted = grantExpiry(caller, expiryDays, now, toLifetimeMs(old));
    const expiresAt = limitExpiry(policy, {
      expiresAt: granted,
      isRequested: expiryDays !== undefined,
      now,
    });
    const id = uuidv7();
    const { orgId } = caller;
    const { accessToken, ...minted } = await mintToken(deps, {
      id,
      orgId,
      ownerId: owner.id,
      scopes,
      now,
      expiresAt,
    });
    const graceEndsAt = graceSeconds === 0 ? undefined : new Date(now + graceSeconds * 1_000);
    const at = new Date(now);
    const rotation = { owner, tokenId, id, ...minted, scopes, expiresAt: toDate(expiresAt), graceEndsAt, at };
    const outcome = await rotateToken(pool, rotation, caller);
    if (outcome === 'caller rotated') throw tokenAlreadyRotated();
    if (outcome === 'not permitted') throw sessionRequiredToRotate();
    if (outcome !== 'rotated') {
      // Another rotation or a revocation came first, or else the caller's credential has ended.
      await findRotatable(owner, tokenId, now);
      throw invalidCredential(standardAuthErrors);
    }
    const endsAt = Math.min((graceEndsAt ?? at).getTime(), old.expires_at?.getTime() ?? Infinity);
    return {
      token: {
        id,
        name: old.name,
        scopes,
        createdAt: at.toISOString(),
        expiresAt: toDate(expiresAt)?.toISOString() ?? null,
        lastUsedAt: null,
        usedScopes: [],
        parentId: old.parent_id,
        accessToken,
      },
      replaced: { id: tokenId, endsAt: new Date(endsAt).toISOString() },
    };
  }

  return {
    /**
     * Replaces an own token by a new one with the same name, scopes and place in its family. The new value is returned only
     * here. The replaced token works until the grace ends, then is revoked with the reason `rotated`.
     *
     * @throws AppError 404; 409 when the token or the calling token has been rotated; 403 when the caller lacks a scope of
     *   the token, or is a token that isn't the token itself or an ancestor of it; 400 when the caller can't grant the
     *   expiry; 401 when its credential has ended since it was verified.
     */
    rotate: (caller: Caller, tokenId: string, options?: RotateOptions): Promise<RotatedToken> =>
      rotateOf(caller, { id: caller.userId, isServiceAccount: false }, tokenId, options),

    /** Does the same for a token of a service account; only the session of an administrator can. */
    rotateOf,
  };
}
export type TokenRotation = ReturnType<typeof createTokenRotation>;
