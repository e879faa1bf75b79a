import { DAY_MS, type FaultDetail, validationError } from '@platform/service-kit';
import { compileList, contains } from '../allow-lists/compiled-list.js';
import { isDisjoint, readAllowList, toComparable } from '../allow-lists/ranges.js';
import { WARNING_DAYS } from '../token-revocation/unused.js';

/* Pure rules: what an organisation's policy allows a token to have. */

export interface TokenPolicy {
  /** Ranges that all tokens of the organisation may be used from; empty for any address. */
  readonly allowList: string[];
  /** The longest lifetime in days; null for any. */
  readonly maxLifetimeDays: number | null;
  /** Whether tokens may never expire. */
  readonly allowsNever: boolean;
  /** Scopes that no token may have. */
  readonly deniedScopes: string[];
  /** Whether a use of a rotated token after its end revokes the token that replaced it. */
  readonly revokeFamilyOnReuse: boolean;
  /** After so many days without a use, a token is revoked, a week after its owner was warned; null for never. */
  readonly revokeUnusedDays: number | null;
}

export const DEFAULT_POLICY: TokenPolicy = {
  allowList: [],
  maxLifetimeDays: null,
  allowsNever: true,
  deniedScopes: [],
  revokeFamilyOnReuse: false,
  revokeUnusedDays: null,
};

/** A token that was used today must not be warned about today. */
export const MIN_UNUSED_DAYS = WARNING_DAYS + 1;

type LifetimePolicy = Pick<TokenPolicy, 'maxLifetimeDays' | 'allowsNever'>;

/** @returns the latest expiry that the policy allows, in milliseconds since the epoch; null for any. */
function getLatestExpiry({ maxLifetimeDays }: LifetimePolicy, createdAt: number): number | null {
  return maxLifetimeDays === null ? null : Math.floor((createdAt + maxLifetimeDays * DAY_MS) / 1_000) * 1_000;
}

const isTooLong = (policy: LifetimePolicy, createdAt: number, expiresAt: number | null): boolean => {
  if (expiresAt === null) return !policy.allowsNever || policy.maxLifetimeDays !== null;
  const latest = getLatestExpiry(policy, createdAt);
  return latest !== null && expiresAt > latest;
};

/**
 * Returns the expiry within the policy: a default one is cut, a requested one must fit.
 *
 * @param expiresAt - milliseconds since the epoch; null for never.
 * @throws AppError 400.
 */
export function limitExpiry(
  policy: LifetimePolicy,
  expiry: { readonly expiresAt: number | null; readonly isRequested: boolean; readonly now: number },
): number | null {
  const { expiresAt, isRequested, now } = expiry;
  if (!isTooLong(policy, now, expiresAt)) return expiresAt;
  const latest = getLatestExpiry(policy, now);
  if (!isRequested && latest !== null) return latest;
  const limit =
    policy.maxLifetimeDays === null ? 'tokens must expire' : `at most ${policy.maxLifetimeDays} days`;
  throw validationError([{ field: 'expiryDays', message: `the organisation's policy limits it: ${limit}` }]);
}

/** @throws AppError 400 that names each scope that the policy denies. */
export function assertScopesAllowed({ deniedScopes }: TokenPolicy, scopes: readonly string[]): void {
  const faults: FaultDetail[] = scopes.flatMap((scope, index) =>
    deniedScopes.includes(scope)
      ? [{ field: `scopes.${index}`, message: `the organisation's policy denies ${scope}` }]
      : [],
  );
  if (faults.length > 0) throw validationError(faults);
}

export const breaches = ['lifetime', 'never', 'scope', 'address', 'unused'] as const;
export type Breach = (typeof breaches)[number];

export interface PolicySubject {
  readonly scopes: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  /** As it is stored. */
  readonly allowList: readonly string[];
  /** Null when it was never used. */
  readonly lastUsedAt: Date | null;
  /** Null when it was never used, or from an unknown address. */
  readonly lastAddress: string | null;
}

/** Returns whether the token was last used from an address that the policy would refuse, or is allowed from none at all. */
function isOutside(
  policy: Pick<TokenPolicy, 'allowList'>,
  { allowList, lastAddress }: PolicySubject,
): boolean {
  if (policy.allowList.length === 0) return false;
  const address = toComparable(lastAddress ?? undefined);
  if (address !== null && !contains(compileList(policy.allowList.join(' ')), address)) return true;
  return isDisjoint(readAllowList(allowList), policy.allowList);
}

/** Returns what the policy would not allow the token to have if it were created today, and whether it is unused. */
export function findBreaches(policy: TokenPolicy, token: PolicySubject, now: Date): Breach[] {
  const { scopes, createdAt, expiresAt, lastUsedAt } = token;
  const isLong = isTooLong(policy, createdAt.getTime(), expiresAt?.getTime() ?? null);
  const unusedMs = now.getTime() - Math.max(createdAt.getTime(), lastUsedAt?.getTime() ?? 0);
  const isUnused = policy.revokeUnusedDays !== null && unusedMs >= policy.revokeUnusedDays * DAY_MS;
  return [
    ...(isLong && expiresAt !== null ? (['lifetime'] as const) : []),
    ...(isLong && expiresAt === null ? (['never'] as const) : []),
    ...(scopes.some((scope) => policy.deniedScopes.includes(scope)) ? (['scope'] as const) : []),
    ...(isOutside(policy, token) ? (['address'] as const) : []),
    ...(isUnused ? (['unused'] as const) : []),
  ];
}

/** Returns whether such a token can be revoked at once. The owner of one that is only unused is warned first. */
export const isRevoking = (found: readonly string[]): boolean => found.some((breach) => breach !== 'unused');

export type ExistingTokens = 'keep' | 'revoke';

/** The part of a saved policy that says which tokens are unused. */
export interface UnusedRule {
  readonly revokeUnusedDays: number | null;
  /** Days without a use count from here at the earliest; null for the last use of each token. */
  readonly unusedFrom: Date | null;
}

/**
 * Returns from when days without a use count at the earliest. Tightening the policy starts them anew, and so does keeping
 * the tokens that are unused, unless the administrator says that unused tokens are revoked.
 */
export function getUnusedFrom(
  before: UnusedRule,
  days: number | null,
  { existingTokens, at }: { readonly existingTokens: ExistingTokens | undefined; readonly at: Date },
): Date | null {
  if (days === null || existingTokens === 'revoke') return null;
  const isTighter = before.revokeUnusedDays === null || days < before.revokeUnusedDays;
  const isKeeping = existingTokens === 'keep' && before.unusedFrom === null;
  return isTighter || isKeeping ? at : before.unusedFrom;
}
