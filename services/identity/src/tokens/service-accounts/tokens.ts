import { canServiceAccountHoldScope, isScope, type Role } from '@platform/auth';
import { type FaultDetail, validationError } from '@platform/service-kit';
import type { Caller } from '../../base/caller/actor.js';
import { type CreatedToken, type IssueDeps, issueToken } from '../create/issue.js';
import type { GrantableScopes, RevokeOptions, Token } from '../create/schemas.js';
import { listScopeGroups } from '../create/scope-groups.js';
import type { TokenService } from '../create/service.js';
import type { EditedToken, EditTokenBody, TokenDetails } from '../edit/schemas.js';
import type { TokenDetailsService } from '../edit/service.js';
import type { GetPolicy } from '../policy/feature.js';
import { assertScopesAllowed } from '../policy/policy.js';
import type { RotatedToken, RotateOptions } from '../rotate/schemas.js';
import type { TokenRotation } from '../rotate/service.js';
import type { CreateAccountTokenBody } from './schemas.js';
import type { ServiceAccounts } from './service.js';

function describeFault(scope: string): string {
  if (!isScope(scope)) return `unknown scope ${JSON.stringify(scope)}`;
  return canServiceAccountHoldScope(scope, 'admin')
    ? `${scope} can be held only by a service account that is an administrator`
    : `${scope} depends on a person`;
}

/** @throws AppError 400 that names each scope that a service account with the role can't hold. */
function assertHoldable(scopes: readonly string[], role: Role): void {
  const faults: FaultDetail[] = scopes.flatMap((scope, index) =>
    canServiceAccountHoldScope(scope, role)
      ? []
      : [{ field: `scopes.${index}`, message: describeFault(scope) }],
  );
  if (faults.length > 0) throw validationError(faults);
}

/** Creates the service with which administrators manage the tokens of service accounts. */
export function createAccountTokens(
  deps: IssueDeps & {
    readonly accounts: Pick<ServiceAccounts, 'get'>;
    readonly tokens: Pick<TokenService, 'listOf' | 'revokeOf'>;
    readonly details: Pick<TokenDetailsService, 'get' | 'editOfAccount'>;
    readonly rotation: Pick<TokenRotation, 'rotateOf'>;
    readonly getPolicy: GetPolicy;
  },
) {
  const { accounts, tokens, details, rotation } = deps;

  /** @throws AppError 404. */
  async function findOwner(caller: { readonly orgId: string }, accountId: string) {
    const { id, name, role } = await accounts.get(caller, accountId);
    return { id, isServiceAccount: true, name, role: role as Role };
  }

  return {
    list: async (caller: { readonly orgId: string }, accountId: string): Promise<Token[]> =>
      tokens.listOf(await findOwner(caller, accountId)),

    /** Lists the scopes that a token of the account can have, by category. @throws AppError 404. */
    async listScopes(
      caller: { readonly orgId: string },
      accountId: string,
    ): Promise<GrantableScopes['scopes']> {
      const { role } = await findOwner(caller, accountId);
      const { deniedScopes } = await deps.getPolicy(caller.orgId);
      return listScopeGroups(
        [],
        (scope) => canServiceAccountHoldScope(scope, role) && !deniedScopes.includes(scope),
      );
    },

    /** Creates a token that acts as the account. Its value is returned only here. @throws AppError 400; 404. */
    async create(caller: Caller, accountId: string, body: CreateAccountTokenBody): Promise<CreatedToken> {
      const owner = await findOwner(caller, accountId);
      assertHoldable(body.scopes, owner.role);
      const { name, description, expiryDays, allowList } = body;
      const scopes = [...new Set(body.scopes)];
      const request = { owner, accountName: owner.name, name, description, scopes, expiryDays, allowList };
      const policy = await deps.getPolicy(caller.orgId);
      assertScopesAllowed(policy, scopes);
      return issueToken(deps, caller, policy, request);
    },

    /** Returns a token in any state. @throws AppError 404. */
    get: async (
      caller: { readonly orgId: string },
      accountId: string,
      tokenId: string,
    ): Promise<TokenDetails> => details.get(await findOwner(caller, accountId), tokenId),

    /** Changes an active token, never so that it grants more. @throws AppError 400; 403; 404; 409. */
    async edit(
      caller: Caller,
      accountId: string,
      tokenId: string,
      body: EditTokenBody,
    ): Promise<EditedToken> {
      const { id } = await findOwner(caller, accountId);
      return details.editOfAccount(caller, id, tokenId, body);
    },

    /** Replaces a token by a new one. @throws AppError 400; 404; 409. */
    rotate: async (
      caller: Caller,
      accountId: string,
      tokenId: string,
      options: RotateOptions | undefined,
    ): Promise<RotatedToken> =>
      rotation.rotateOf(caller, await findOwner(caller, accountId), tokenId, options),

    /** @returns how many tokens were revoked. @throws AppError 404. */
    revoke: async (
      caller: Caller,
      accountId: string,
      tokenId: string,
      options: RevokeOptions | undefined,
    ): Promise<number> => tokens.revokeOf(await findOwner(caller, accountId), caller, tokenId, options),
  };
}
export type AccountTokens = ReturnType<typeof createAccountTokens>;
