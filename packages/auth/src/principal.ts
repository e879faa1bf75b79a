import type { Bounds } from './bounds.js';
import type { AccountGroup } from './liveness.js';
import { canDelegateScope, canHoldScope, canServiceAccountHoldScope, type Role } from './scopes.js';

interface Account {
  readonly credentialId: string;
  /** The id of the member or service account that the credential acts as. */
  readonly userId: string;
  readonly orgId: string;
  /** Empty for a service account. */
  readonly email: string;
  readonly fullName: string;
  /** The owner's role now, not when the credential was made. */
  readonly role: Role;
  /** The groups of the account, in identity itself. */
  readonly groups?: readonly AccountGroup[] | undefined;
  /** The granted scopes. Check them with {@link hasScope}, which also considers the role. */
  readonly grantedScopes: ReadonlySet<string>;
  /** What the credential is limited to beside its scopes; undefined for nothing. */
  readonly bounds?: Bounds | undefined;
  /** The OAuth client that uses the credential; absent when it is not an access token. */
  readonly clientId?: string | undefined;
  /** Milliseconds since the epoch; null for a token that never expires. */
  readonly expiresAt: number | null;
  /** The credential as presented, without its prefix; it is forwarded when acting for its owner. */
  readonly token: string;
}

/** A member who is authenticated by a session or a token. */
export interface UserPrincipal extends Account {
  readonly kind: 'session' | 'pat' | 'oauth';
  readonly isServiceAccount?: false;
}

/** A service account of an organisation: no person, so it has no session and no per-person permissions. */
export interface ServiceAccountPrincipal extends Account {
  readonly kind: 'pat' | 'oauth';
  readonly isServiceAccount: true;
}

/** An account of an organisation: a member, or a service account. */
export type AccountPrincipal = UserPrincipal | ServiceAccountPrincipal;

/** Another service of the platform. */
export interface ServicePrincipal {
  readonly kind: 'service';
  readonly bounds?: undefined;
  readonly clientId: string;
  readonly grantedScopes: ReadonlySet<string>;
}

export type Principal = AccountPrincipal | ServicePrincipal;

/**
 * Returns whether the principal may use the scope. A session is not subject to scopes. A token has the scopes that it
 * was granted, except scopes that its owner could not grant today: the tokens of a demoted administrator lose the
 * administrators' scopes.
 */
export function hasScope(principal: Principal, scope: string): boolean {
  if (principal.kind === 'session') return true;
  if (!principal.grantedScopes.has(scope)) return false;
  if (principal.kind === 'service') return true;
  if (principal.isServiceAccount) return canServiceAccountHoldScope(scope, principal.role);
  return principal.kind === 'oauth'
    ? canDelegateScope(scope, principal.role)
    : canHoldScope(scope, principal.role);
}
