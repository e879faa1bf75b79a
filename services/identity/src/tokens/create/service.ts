import type { Scope, UserPrincipal } from '@platform/auth';
import { type Page, type PageQuery, pageWindow, toPagination } from '@platform/service-kit';
import type { Caller } from '../../base/caller/actor.js';
import { sessionRequiredToKeepDescendants, tokenNotFound } from './errors.js';
import { canGrant, grantScopes } from './grant.js';
import type { TokenOwner } from './insert.queries.js';
import { type CreatedToken, type IssueDeps, issueToken } from './issue.js';
import {
  countActiveTokens,
  findOrgTokens,
  findTokensOf,
  type OwnedTokenRow,
  type TokenRow,
} from './list.queries.js';
import { revokeTokens } from '../revoke/queries.js';
import { describeRevocation } from '../../mails/alerts/alerts.js';
import { limitAlert } from '../../mails/alerts/limited-alerts.js';
import type { GetPolicy } from '../policy/feature.js';
import { assertScopesAllowed } from '../policy/policy.js';
import { findUsedScopes } from '../../credentials/liveness/used-scopes.js';
import { listScopeGroups } from './scope-groups.js';
import type { AdminToken, CreateTokenBody, GrantableScopes, RevokeOptions, Token } from './schemas.js';

/** The own list contains at most the 100 newest tokens (PAT-6). */
const MAX_OWN_LIST = 100;

export const toToken = (row: TokenRow, now: number): Token => ({
  id: row.id,
  name: row.name,
  scopes: row.scopes,
  createdAt: row.created_at.toISOString(),
  expiresAt: row.expires_at?.toISOString() ?? null,
  lastUsedAt: row.last_used_at?.toISOString() ?? null,
  usedScopes: findUsedScopes(row.scopes, row.scope_days, now),
  parentId: row.parent_id,
});

export const toAdminToken = (row: OwnedTokenRow, now: number): AdminToken => ({
  ...toToken(row, now),
  userId: row.owner_id,
  ownerEmail: row.email,
  ownerFullName: row.full_name,
  ownerDeleted: row.is_owner_removed,
  ...(row.is_service_account && { isServiceAccount: true }),
});

export interface TokenServiceDeps extends IssueDeps {
  readonly defaultScopes: readonly Scope[];
  readonly getPolicy: GetPolicy;
}

/** Creates the service with which members and administrators create, list and revoke tokens. */
export function createTokenService(deps: TokenServiceDeps) {
  const { pool, clock, outbox, defaultScopes } = deps;

  async function revoke(
    caller: Caller,
    ownerId: string | undefined,
    tokenId: string,
    { reason, keepDescendants: keepsDescendants = false }: RevokeOptions = {},
  ): Promise<number> {
    if (keepsDescendants && caller.kind !== 'session') throw sessionRequiredToKeepDescendants();
    const at = new Date(clock());
    const count = await revokeTokens(pool, {
      tokenId,
      ownerId,
      by: caller,
      reason: reason ?? null,
      keepsDescendants,
      at,
      toAlert: (token) =>
        token.ownerId === null || token.ownerId === caller.userId
          ? null
          : limitAlert(outbox, {
              topic: 'token-revoked',
              causedBy: `${caller.userId}:${token.ownerId}`,
              recipients: [token.ownerId],
              tokenOwnerId: token.ownerId,
              alert: describeRevocation(token, caller, reason),
              client: caller.client,
              at,
            }),
    });
    if (count === 0) throw tokenNotFound();
    outbox.wake();
    return count;
  }

  async function list(owner: TokenOwner): Promise<Token[]> {
    const now = clock();
    const rows = await findTokensOf(pool, owner, new Date(now), MAX_OWN_LIST);
    return rows.map((row) => toToken(row, now));
  }

  return {
    /**
     * Creates a token. Its value is returned only here.
     *
     * @throws AppError 400 when the caller can't grant the scopes, the expiry or the allow list; 401 when the caller's
     *   credential has ended since it was verified; 409 when it is a token that has been rotated.
     */
    async create(caller: Caller, { scopes: requested, ...fields }: CreateTokenBody): Promise<CreatedToken> {
      const policy = await deps.getPolicy(caller.orgId);
      assertScopesAllowed(policy, requested ?? []);
      const allowed = defaultScopes.filter((scope) => !policy.deniedScopes.includes(scope));
      const { name, description, expiryDays, allowList } = fields;
      return issueToken(deps, caller, policy, {
        owner: { id: caller.userId, isServiceAccount: false },
        name,
        description,
        scopes: grantScopes(caller, requested, allowed),
        expiryDays,
        allowList,
      });
    },

    /** Lists the caller's 100 newest active tokens, newest first. */
    listOwn: ({ userId }: UserPrincipal): Promise<Token[]> => list({ id: userId, isServiceAccount: false }),

    /** Lists the 100 newest active tokens of an owner, newest first. */
    listOf: list,

    async listForOrganisation({ orgId }: UserPrincipal, query: PageQuery): Promise<Page<AdminToken>> {
      const at = clock();
      const now = new Date(at);
      const total = await countActiveTokens(pool, orgId, now);
      const window = pageWindow(query, total);
      const rows = window ? await findOrgTokens(pool, orgId, now, window) : [];
      return { data: rows.map((row) => toAdminToken(row, at)), pagination: toPagination(query, total) };
    },

    /** Returns the scopes that the caller can grant and the policy of the organisation allows, by category. */
    async grantableScopes(principal: UserPrincipal): Promise<GrantableScopes['scopes']> {
      const { deniedScopes } = await deps.getPolicy(principal.orgId);
      return listScopeGroups(
        defaultScopes,
        (name) => canGrant(principal, name) && !deniedScopes.includes(name),
      );
    },

    /**
     * Revokes the token and its descendants, or with `keepDescendants` the token alone. The revocation is effective when
     * this returns.
     *
     * @returns how many tokens were revoked.
     * @throws AppError 404; 403 SESSION_REQUIRED when a token asks for `keepDescendants`.
     */
    revokeOwn: (caller: Caller, tokenId: string, options?: RevokeOptions): Promise<number> =>
      revoke(caller, caller.userId, tokenId, options),

    /** Does the same for a token of another owner. @throws AppError 404. */
    revokeOf: (
      { id }: TokenOwner,
      caller: Caller,
      tokenId: string,
      options?: RevokeOptions,
    ): Promise<number> => revoke(caller, id, tokenId, options),

    /** Does the same for a token of any member or service account of the organisation. @throws AppError 404. */
    revokeAny: (caller: Caller, tokenId: string, options?: RevokeOptions): Promise<number> =>
      revoke(caller, undefined, tokenId, options),
  };
}
export type TokenService = ReturnType<typeof createTokenService>;
