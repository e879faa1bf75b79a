import { canHoldScope, type Role } from './scopes.js';

/** A member who is authenticated by a session or a token. */
export interface UserPrincipal {
  readonly kind: 'session' | 'pat';
  readonly credentialId: string;
  readonly userId: string;
  readonly orgId: string;
  readonly email: string;
  readonly fullName: string;
  /** The owner's role now, not when the credential was made. */
  readonly role: Role;
  /** The granted scopes. Check them with {@link hasScope}, which also considers the role. */
  readonly grantedScopes: ReadonlySet<string>;
  /** Milliseconds since the epoch; null for a token that never expires. */
  readonly expiresAt: number | null;
  /** The credential as presented, without its prefix; it is forwarded when acting for its owner. */
  readonly token: string;
}

/** Another service of the platform. */
export interface ServicePrincipal {
  readonly kind: 'service';
  readonly clientId: string;
  readonly grantedScopes: ReadonlySet<string>;
}

export type Principal = UserPrincipal | ServicePrincipal;

/**
 * Returns whether the principal may use the scope. A session is not subject to scopes. A token has the scopes that it
 * was granted, except those that its owner could not grant today: the tokens of a demoted administrator lose the
 * administrators' scopes.
 */
export function hasScope(principal: Principal, scope: string): boolean {
  if (principal.kind === 'session') return true;
  if (!principal.grantedScopes.has(scope)) return false;
  return principal.kind === 'service' || canHoldScope(scope, principal.role);
}
