import { isScope, type UserPrincipal } from '@platform/auth';
import { type AppError, conflict, validationError } from '@platform/service-kit';
import { readAllowList } from '../../credentials/allow-lists/ranges.js';
import type { Caller } from '../../base/caller/actor.js';
import { findChanges } from '../../audit/changes.js';
import { changeAsAdministrator } from '../../members/organisation/administration.js';
import type { TokenContext } from '../context.js';
import { getUnusedFrom, type TokenPolicy } from './policy.js';
import { findTokenPolicy, findUnusedRule, saveTokenPolicy } from './queries.js';
import { type AffectedToken, findAffectedTokens } from './affected-tokens.sql.js';
import type { AffectedOwner, SavedTokenPolicy, TokenPolicyBody } from './schemas.js';

const MAX_LISTED = 1_000;

/** @throws AppError 409 when nobody could be warned. */
export const mailServiceRequired = (): AppError =>
  conflict(
    'MAIL_SERVICE_REQUIRED',
    'Unused tokens cannot be revoked: there is no mail service (MAIL_URL) that could warn their owners',
  );

/** @throws AppError 400 for an invalid range or scope. */
function readPolicy(body: TokenPolicyBody): TokenPolicy {
  const faults = body.deniedScopes.flatMap((scope, index) =>
    isScope(scope)
      ? []
      : [{ field: `deniedScopes.${index}`, message: `unknown scope ${JSON.stringify(scope)}` }],
  );
  if (faults.length > 0) throw validationError(faults);
  return {
    ...body,
    allowList: readAllowList(body.allowList),
    deniedScopes: [...new Set(body.deniedScopes)],
  };
}

function groupByOwner(tokens: readonly AffectedToken[]): AffectedOwner[] {
  const owners = new Map<string, AffectedOwner>();
  for (const { id, name, breaches, ownerId: userId, ownerEmail, ownerFullName } of tokens) {
    const owner = owners.get(userId) ?? { userId, ownerEmail, ownerFullName, tokens: [] };
    owner.tokens.push({ id, name, breaches });
    owners.set(userId, owner);
  }
  return [...owners.values()];
}

const toAuditForm = (policy: TokenPolicy) => ({
  allowList: policy.allowList.join(' '),
  maxLifetimeDays: policy.maxLifetimeDays,
  allowsNever: String(policy.allowsNever),
  deniedScopes: policy.deniedScopes.join(' '),
  revokeFamilyOnReuse: String(policy.revokeFamilyOnReuse),
  revokeUnusedDays: policy.revokeUnusedDays,
});
const auditFields = [
  'allowList',
  'maxLifetimeDays',
  'allowsNever',
  'deniedScopes',
  'revokeFamilyOnReuse',
  'revokeUnusedDays',
] as const;

const storePolicy = (ctx: TokenContext, caller: Caller, policy: TokenPolicy): Promise<void> =>
  changeAsAdministrator(ctx, caller, async ({ tx, at, record }) => {
    const { orgId } = caller;
    const before = await findTokenPolicy(tx, orgId);
    const unusedFrom = getUnusedFrom(await findUnusedRule(tx, orgId), policy.revokeUnusedDays, at);
    await saveTokenPolicy(tx, orgId, { ...policy, unusedFrom, updatedAt: at });
    const changes = findChanges(toAuditForm(before), toAuditForm(policy), auditFields);
    await record({ action: 'configuration.token_policy_saved', subjectId: orgId, changes });
  });

export function getTokenPolicy(
  { prisma }: TokenContext,
  { orgId }: Pick<UserPrincipal, 'orgId'>,
): Promise<TokenPolicy> {
  return findTokenPolicy(prisma, orgId);
}

/**
 * Saves the policy, which takes effect with the next request of each token. [PAT-30]
 *
 * @param isDryRun - changes nothing, and returns the same.
 * @throws AppError 400 for a fault; 409 when unused tokens are to be revoked and nobody could be warned.
 */
export async function changeTokenPolicy(
  ctx: TokenContext,
  caller: Caller,
  body: TokenPolicyBody,
  isDryRun: boolean,
): Promise<SavedTokenPolicy> {
  const at = new Date(ctx.clock());
  const policy = readPolicy(body);
  if (policy.revokeUnusedDays !== null && !ctx.outbox.isEnabled) throw mailServiceRequired();
  if (!isDryRun) await storePolicy(ctx, caller, policy);
  const options = { now: at, limit: MAX_LISTED };
  const { count, tokens } = await findAffectedTokens(ctx.pool, caller.orgId, policy, options);
  return { policy, affectedCount: count, affected: groupByOwner(tokens) };
}
