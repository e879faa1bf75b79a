import { canHoldScope, type Role } from './scopes.js';

/** A member, through a session or a token. */
export interface UserPrincipal {
  readonly kind: 'session' | 'pat';
  readonly credentialId: string;
  readonly userId: string;
  readonly orgId: string;
  readonly email: string;
  readonly fullName: string;
  /** The owner's role now, not when the credential was made. */
  readonly role: Role;
  /** As granted. Ask {@link hasScope}, which also looks at the role. */
  readonly grantedScopes: ReadonlySet<string>;
  /** Milliseconds since the epoch; null for a token that never expires. */
  readonly expiresAt: number | null;
  /** The credential as presented, without its prefix: what is passed on when acting for its owner. */
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
 * A session isn't subject to scopes. A token has what it was granted, less what its owner could
 * not grant today: a demoted administrator's tokens lose the administrators' scopes.
 */
export function hasScope(principal: Principal, scope: string): boolean {
  if (principal.kind === 'session') return true;
  if (!principal.grantedScopes.has(scope)) return false;
  return principal.kind === 'service' || canHoldScope(scope, principal.role);
}
