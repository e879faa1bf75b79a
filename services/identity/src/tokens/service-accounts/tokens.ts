import { canServiceAccountHoldScope, isScope, type Role } from '@platform/auth';
import { type FaultDetail, validationError } from '@platform/service-kit';
import type { Caller } from '../../base/caller/actor.js';
import type { TokenContext } from '../context.js';
import { type CreatedToken, createTokenFor, listScopeGroups } from '../create.js';
import { assertScopesAllowed } from '../policy/policy.js';
import { findTokenPolicy } from '../policy/queries.js';
import type { GrantableScopes } from '../schemas.js';
import type { Account, CreateAccountTokenBody } from './schemas.js';

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

/** Lists the scopes that a token of the account can have, by category. */
export async function listAccountScopes(
  { prisma }: TokenContext,
  { orgId }: Pick<Caller, 'orgId'>,
  { role }: Account,
): Promise<GrantableScopes['scopes']> {
  const { deniedScopes } = await findTokenPolicy(prisma, orgId);
  return listScopeGroups(
    [],
    (scope) => canServiceAccountHoldScope(scope, role as Role) && !deniedScopes.includes(scope),
  );
}

/** Creates a token that acts as the account. Its value is returned only here. @throws AppError 400. */
export async function createAccountToken(
  ctx: TokenContext,
  caller: Caller,
  { id, name: accountName, role }: Account,
  body: CreateAccountTokenBody,
): Promise<CreatedToken> {
  assertHoldable(body.scopes, role as Role);
  const { name, description, expiryDays, allowList } = body;
  const scopes = [...new Set(body.scopes)];
  const policy = await findTokenPolicy(ctx.prisma, caller.orgId);
  assertScopesAllowed(policy, scopes);
  const owner = { id, isServiceAccount: true };
  const request = { owner, accountName, name, description, scopes, expiryDays, allowList };
  return createTokenFor(ctx, caller, policy, request);
}
