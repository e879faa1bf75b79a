import { isScope, type UserPrincipal } from '@platform/auth';
import { AppError, type Clock, conflict, validationError } from '@platform/service-kit';
import type pg from 'pg';
import type { Prisma } from '../../resources.js';
import { readAllowList } from '../allow-lists/ranges.js';
import { type Caller, toActor } from '../audit/actor.js';
import { findChanges } from '../audit/changes.js';
import { insertAuditEntry } from '../audit/queries.js';
import type { Outbox } from '../outgoing-mails/outbox.js';
import { lockAdministration } from '../users/administration.js';
import { findAffected, findRevokedWith, groupByOwner } from './affected.js';
import { getUnusedFrom, isRevoking, type TokenPolicy } from './policy.js';
import { findSavedState, findTokenPolicy, saveTokenPolicy } from './queries.js';
import { revokeAffected } from './revoke-affected.js';
import type { SavedTokenPolicy, TokenPolicyBody } from './schemas.js';

const MAX_LISTED = 1_000;

const existingTokensUndecided = (count: number): AppError =>
  new AppError({
    status: 409,
    code: 'EXISTING_TOKENS',
    message: `The policy would not allow ${count} active tokens: say with existingTokens whether to keep or to revoke them`,
  });

/** @throws AppError 409 when nobody could be warned. */
const mailServiceRequired = (): AppError =>
  conflict(
    'MAIL_SERVICE_REQUIRED',
    'Unused tokens cannot be revoked: there is no mail service (MAIL_URL) that could warn their owners',
  );

/**
 * @param before - the saved policy: a request that doesn't name `revokeUnusedDays` keeps it.
 * @throws AppError 400 for what is no range or no scope.
 */
function readPolicy(
  { existingTokens: _existingTokens, revokeUnusedDays, ...policy }: TokenPolicyBody,
  before: TokenPolicy,
): TokenPolicy {
  const faults = policy.deniedScopes.flatMap((scope, index) =>
    isScope(scope)
      ? []
      : [{ field: `deniedScopes.${index}`, message: `unknown scope ${JSON.stringify(scope)}` }],
  );
  if (faults.length > 0) throw validationError(faults);
  return {
    ...policy,
    allowList: readAllowList(policy.allowList),
    deniedScopes: [...new Set(policy.deniedScopes)],
    revokeUnusedDays: revokeUnusedDays === undefined ? before.revokeUnusedDays : revokeUnusedDays,
  };
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

/** Creates the service with which administrators read and save the policy of their organisation. */
export function createTokenPolicyService(deps: {
  readonly pool: pg.Pool;
  readonly prisma: Prisma;
  readonly outbox: Outbox;
  readonly clock: Clock;
}) {
  const { pool, prisma, outbox, clock } = deps;

  /** Stores the policy, with the mark that tokens are to be revoked, until they are. */
  const store = (
    caller: Caller,
    body: TokenPolicyBody,
    at: Date,
  ): Promise<{ readonly policy: TokenPolicy; readonly version: Date }> =>
    prisma.$transaction(async (tx) => {
      const { orgId } = caller;
      await lockAdministration(tx, caller);
      const before = await findTokenPolicy(tx, orgId);
      const policy = readPolicy(body, before);
      const saved = await findSavedState(tx, orgId);
      const { existingTokens } = body;
      const unusedFrom = getUnusedFrom(saved, policy.revokeUnusedDays, { existingTokens, at });
      const updatedAt = new Date(Math.max(at.getTime(), saved.updatedAt.getTime() + 1));
      const isRevoked = existingTokens === 'revoke';
      await saveTokenPolicy(tx, orgId, {
        ...policy,
        unusedFrom,
        updatedAt,
        revokingBy: isRevoked ? caller.userId : null,
        revokingVersion: isRevoked ? updatedAt : null,
      });
      await insertAuditEntry(tx, {
        orgId,
        action: 'configuration.token_policy_saved',
        actor: toActor(caller),
        subjectId: orgId,
        changes: findChanges(toAuditForm(before), toAuditForm(policy), auditFields),
        at,
      });
      return { policy, version: updatedAt };
    });

  return {
    get: ({ orgId }: Pick<UserPrincipal, 'orgId'>): Promise<TokenPolicy> => findTokenPolicy(prisma, orgId),

    /**
     * Saves the policy, and keeps or revokes the active tokens that it would not allow. When the request fails or the
     * replica dies in between, the job finishes the revocations.
     *
     * @param isDryRun - changes nothing, and returns the same.
     * @throws AppError 400 for a fault; 409 EXISTING_TOKENS when there are such tokens and the body doesn't say what
     *   happens to them.
     */
    async save(caller: Caller, body: TokenPolicyBody, isDryRun: boolean): Promise<SavedTokenPolicy> {
      const { orgId } = caller;
      const at = new Date(clock());
      const find = (wanted: TokenPolicy) => findAffected(pool, orgId, wanted, at);
      const wanted = readPolicy(body, await findTokenPolicy(prisma, orgId));
      if (wanted.revokeUnusedDays !== null && !outbox.isEnabled) throw mailServiceRequired();
      if (!isDryRun && body.existingTokens === undefined) {
        const undecided = await find(wanted);
        if (undecided.length > 0) throw existingTokensUndecided(undecided.length);
      }
      const saved = isDryRun ? undefined : await store(caller, body, at);
      const policy = saved?.policy ?? wanted;
      // After it is stored, so that a token that was created meanwhile is found as well.
      const found = await find(policy);
      const isRevoked = body.existingTokens === 'revoke';
      const family = isRevoked ? await findRevokedWith(pool, found, at) : [];
      const result = {
        policy,
        affected: groupByOwner([...found, ...family].slice(0, MAX_LISTED)),
        affectedCount: found.length,
      };
      if (!isRevoked) return { ...result, revokedCount: 0, warnedCount: 0 };
      const revocable = found.filter(({ breaches }) => isRevoking(breaches));
      const revokedCount = saved
        ? await revokeAffected(
            { pool, outbox },
            { orgId, version: saved.version },
            caller,
            revocable,
            saved.version,
          )
        : revocable.length + family.length;
      return { ...result, revokedCount, warnedCount: found.length - revocable.length };
    },
  };
}
export type TokenPolicyService = ReturnType<typeof createTokenPolicyService>;
