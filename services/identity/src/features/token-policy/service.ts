import { isScope, type UserPrincipal } from '@platform/auth';
import { AppError, type Clock, validationError } from '@platform/service-kit';
import type pg from 'pg';
import type { Prisma } from '../../resources.js';
import { readAllowList } from '../allow-lists/ranges.js';
import { type Caller, toActor } from '../audit/actor.js';
import { findChanges } from '../audit/changes.js';
import { insertAuditEntry } from '../audit/queries.js';
import { type RevokedToken, revokeTokens } from '../token-revocation/queries.js';
import type { Outbox } from '../outgoing-mails/outbox.js';
import { describePolicyRevocation, toAlertMail } from '../token-alerts/alerts.js';
import { lockAdministration } from '../users/administration.js';
import { type Breach, findBreaches, type TokenPolicy } from './policy.js';
import { type ActiveToken, findActiveTokens, findTokenPolicy, saveTokenPolicy } from './queries.js';
import type { AffectedOwner, SavedTokenPolicy, TokenPolicyBody } from './schemas.js';

const BATCH = 1_000;
const MAX_LISTED = 1_000;
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

type Affected = ActiveToken & { readonly breaches: Breach[] };

export interface TokenPolicyService {
  get(organisation: Pick<UserPrincipal, 'orgId'>): Promise<TokenPolicy>;
  /**
   * Saves the policy, and keeps or revokes the active tokens that it would not allow.
   *
   * @param isDryRun - changes nothing, and returns the same.
   * @throws AppError 400 for a fault; 409 EXISTING_TOKENS when there are such tokens and the body doesn't say what
   *   happens to them.
   */
  save(caller: Caller, body: TokenPolicyBody, isDryRun: boolean): Promise<SavedTokenPolicy>;
}

const existingTokensUndecided = (count: number): AppError =>
  new AppError({
    status: 409,
    code: 'EXISTING_TOKENS',
    message: `The policy would not allow ${count} active tokens: say with existingTokens whether to keep or to revoke them`,
  });

/** @throws AppError 400 for what is no range or no scope. */
function readPolicy({ existingTokens: _existingTokens, ...policy }: TokenPolicyBody): TokenPolicy {
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
  };
}

function groupByOwner(tokens: readonly Affected[]): AffectedOwner[] {
  const owners = new Map<string, AffectedOwner>();
  for (const { id, name, breaches, ownerId: userId, ownerEmail } of tokens) {
    const owner = owners.get(userId) ?? { userId, ownerEmail, tokens: [] };
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
});
const auditFields = [
  'allowList',
  'maxLifetimeDays',
  'allowsNever',
  'deniedScopes',
  'revokeFamilyOnReuse',
] as const;

export function createTokenPolicyService(deps: {
  readonly pool: pg.Pool;
  readonly prisma: Prisma;
  readonly outbox: Outbox;
  readonly clock: Clock;
}): TokenPolicyService {
  const { pool, prisma, outbox, clock } = deps;

  async function findAffected(orgId: string, policy: TokenPolicy, now: Date): Promise<Affected[]> {
    const affected: Affected[] = [];
    let before = LAST_ID;
    for (;;) {
      const batch = await findActiveTokens(pool, { orgId, now, before, limit: BATCH });
      for (const token of batch) {
        const breaches = findBreaches(policy, token);
        if (breaches.length > 0) affected.push({ ...token, breaches });
      }
      if (batch.length < BATCH) return affected;
      before = batch.at(-1)?.id ?? before;
    }
  }

  const store = (caller: Caller, policy: TokenPolicy, at: Date): Promise<unknown> =>
    prisma.$transaction(async (tx) => {
      await lockAdministration(tx, caller);
      const before = await findTokenPolicy(tx, caller.orgId);
      await saveTokenPolicy(tx, caller.orgId, policy, at);
      await insertAuditEntry(tx, {
        orgId: caller.orgId,
        action: 'configuration.token_policy_saved',
        actor: toActor(caller),
        subjectId: caller.orgId,
        changes: findChanges(toAuditForm(before), toAuditForm(policy), auditFields),
        at,
      });
    });

  /** Revokes the tokens. Each owner gets one mail, which is stored with the first revocation. */
  async function revokeAll(caller: Caller, tokens: readonly Affected[], at: Date): Promise<number> {
    const namesOfOwner = new Map<string, string[]>();
    for (const { ownerId, name } of tokens)
      namesOfOwner.set(ownerId, [...(namesOfOwner.get(ownerId) ?? []), name]);
    function toMail({ ownerId }: RevokedToken): string | null {
      const names = namesOfOwner.get(ownerId);
      namesOfOwner.delete(ownerId);
      if (!names || ownerId === caller.userId) return null;
      return toAlertMail(outbox, ownerId, caller, describePolicyRevocation(names, caller), at);
    }
    let count = 0;
    const revocation = {
      ownerId: undefined,
      by: caller,
      reason: 'policy',
      keepsDescendants: false,
      at,
      toMail,
    };
    for (const { id: tokenId } of tokens) count += await revokeTokens(pool, { ...revocation, tokenId });
    outbox.wake();
    return count;
  }

  return {
    get: ({ orgId }) => findTokenPolicy(prisma, orgId),
    async save(caller, body, isDryRun) {
      const policy = readPolicy(body);
      const at = new Date(clock());
      const isRevoking = body.existingTokens === 'revoke';
      const find = () => findAffected(caller.orgId, policy, at);
      if (!isDryRun) {
        const undecided = body.existingTokens === undefined ? await find() : [];
        if (undecided.length > 0) throw existingTokensUndecided(undecided.length);
        await store(caller, policy, at);
      }
      // After it is stored, so that a token that was created meanwhile is found as well.
      const found = await find();
      const revokeFound = () => (isDryRun ? found.length : revokeAll(caller, found, at));
      return {
        policy,
        affected: groupByOwner(found.slice(0, MAX_LISTED)),
        affectedCount: found.length,
        revokedCount: isRevoking ? await revokeFound() : 0,
      };
    },
  };
}
