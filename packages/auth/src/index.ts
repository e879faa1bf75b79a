// Anything exported here is public: services import from this file alone.
export { Bounds, canUseConnector } from './bounds.js';
export { createJwtSigner } from './jwt-signer.js';
export {
  insufficientScope,
  invalidCredential,
  missingCredential,
  type AuthErrorMessages,
  standardAuthErrors,
} from './challenges.js';
export {
  type CredentialClaims,
  type CredentialKind,
  toDigest,
  DEFAULT_TOKEN_PREFIX,
  formatToken,
  isTokenPrefix,
  type SignedCredential,
  toJwt,
} from './credential.js';
export { withDemand } from './demands.js';
export { DPOP_ALGORITHMS } from './dpop.js';
export {
  adminRequired,
  getAccount,
  getMember,
  assertService,
  demandService,
  getPrincipal,
  requireAccount,
  requireAdmin,
  requireMember,
  requireScopedToken,
  requireScopes,
  requireService,
  requireSession,
  toMember,
  verifyCaller,
} from './guards.js';
export {
  createIdentityClient,
  type IdentityClient,
  type IdentityClientOptions,
  openIdentityClient,
} from './identity-client.js';
export {
  Introspection,
  INTROSPECTION_PATH,
  INTROSPECTION_SCOPE,
  IntrospectionBatch,
  IntrospectionBatchRequest,
  IntrospectionClient,
  JWKS_PATH,
  TOKEN_PATH,
} from './introspection.js';
export { type Jwks, type KeySet, toKeys, toPem, type PublicJwk } from './key-set.js';
export type { AccountGroup, LiveOwner, Liveness, Presentation } from './liveness.js';
export { authPlugin, type AuthOptions } from './plugin.js';
export {
  type RecordRefusal,
  REFUSALS_PATH,
  type RefusalReason,
  refusalReasons,
  RefusedRequest,
  MAX_REFUSALS,
  toRefusalReason,
} from './refused-requests.js';
export { identityClientVariables, platformVariables, registerRemoteAuth } from './remote-auth.js';
export {
  type AccountPrincipal,
  hasScope,
  type Principal,
  type ServiceAccountPrincipal,
  type ServicePrincipal,
  type UserPrincipal,
} from './principal.js';
export {
  canDelegateScope,
  canHoldScope,
  canUseScope,
  canServiceAccountHoldScope,
  isScope,
  type Role,
  roles,
  type Scope,
  scopeCatalogue,
  type ScopeDefinition,
} from './scopes.js';
export { CSRF_HEADER, createSessionCookies, isLoopbackHost, type SessionCookies } from './session-cookies.js';
export { createSignatureCheck } from './signature.js';
