import { canHoldScope, hasScope, isScope, type Scope, type UserPrincipal } from '@platform/auth';
import { DAY_MS, type FaultDetail, validationError } from '@platform/service-kit';

/*
 * Pure rules for the scopes and the expiry that a caller can grant to a new token.
 *
 * All follow from one principle: a caller can grant only what it has. A session has every scope of its owner's role; a
 * token has its own scopes, as far as its owner's role still allows them, until it expires.
 */

export const expiryChoices = [30, 90, 365, 'never'] as const;
export type ExpiryDays = (typeof expiryChoices)[number];

const DEFAULT_LIFETIME_MS = 30 * DAY_MS;

export const canGrant = (principal: UserPrincipal, scope: string): boolean =>
  canHoldScope(scope, principal.role) && hasScope(principal, scope);

function describeGrantFault(principal: UserPrincipal, scope: string): string {
  if (!isScope(scope)) return `unknown scope ${JSON.stringify(scope)}`;
  if (!canHoldScope(scope, principal.role)) return `${scope} can be granted by an administrator only`;
  return `${scope} cannot be granted by a token that lacks it`;
}

/**
 * @param requested - the scopes that the caller requests; undefined for those of the default set that it can grant.
 * @throws AppError 400 that names each scope that can't be granted, and why.
 */
export function grantScopes(
  principal: UserPrincipal,
  requested: readonly string[] | undefined,
  defaults: readonly Scope[],
): string[] {
  if (!requested) {
    const granted = defaults.filter((scope) => canGrant(principal, scope));
    if (granted.length > 0) return granted;
    throw validationError([
      { field: 'scopes', message: 'name them: this credential can grant none of the default scopes' },
    ]);
  }
  const faults: FaultDetail[] = requested.flatMap((scope, index) =>
    canGrant(principal, scope)
      ? []
      : [{ field: `scopes.${index}`, message: describeGrantFault(principal, scope) }],
  );
  if (faults.length > 0) throw validationError(faults);
  return [...new Set(requested)];
}

const toLifetimeMs = (days: ExpiryDays): number | null => (days === 'never' ? null : days * DAY_MS);

/**
 * @param now - milliseconds since the epoch.
 * @param defaultLifetimeMs - the lifetime when none is requested; null for never.
 * @returns the expiry in milliseconds since the epoch, on a whole second; null for never.
 * @throws AppError 400 when the requested expiry is more than a day after that of the creating token.
 */
export function grantExpiry(
  principal: UserPrincipal,
  requested: ExpiryDays | undefined,
  now: number,
  defaultLifetimeMs: number | null = DEFAULT_LIFETIME_MS,
): number | null {
  const lifetimeMs = requested === undefined ? defaultLifetimeMs : toLifetimeMs(requested);
  const wanted = lifetimeMs === null ? null : Math.floor((now + lifetimeMs) / 1_000) * 1_000;
  const own = principal.kind === 'session' ? null : principal.expiresAt;
  if (own === null || (wanted !== null && wanted <= own)) return wanted;
  if (requested === undefined || (wanted !== null && wanted <= own + DAY_MS)) return own;
  throw validationError([
    {
      field: 'expiryDays',
      message: `a token that ends at ${new Date(own).toISOString()} cannot create a token that ends later`,
    },
  ]);
}
