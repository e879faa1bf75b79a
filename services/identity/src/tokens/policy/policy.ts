import { DAY_MS, type FaultDetail, validationError } from '@platform/service-kit';
import { WARNING_DAYS } from '../unused.js';

/*
 * Pure rules: what an organisation's policy allows a token to have. They answer a creation or a rotation with a clear error.
 * What holds for every token, an older one too, is the statement that reads its liveness with each request.
 */

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

/** In which way a policy would limit a token that exists. */
export const breaches = ['lifetime', 'never', 'scope', 'address'] as const;
export type Breach = (typeof breaches)[number];

/** The part of a saved policy that says which tokens are unused. */
export interface UnusedRule {
  readonly revokeUnusedDays: number | null;
  /** Days without a use count from here at the earliest; null for the last use of each token. */
  readonly unusedFrom: Date | null;
}

/** Returns from when days without a use count at the earliest. A tighter policy restarts the count, so that owners are warned. */
export function getUnusedFrom(before: UnusedRule, days: number | null, at: Date): Date | null {
  if (days === null) return null;
  const isTighter = before.revokeUnusedDays === null || days < before.revokeUnusedDays;
  return isTighter ? at : before.unusedFrom;
}
