import type { Clock } from '@platform/service-kit';
import type { SignedCredential } from './credential.js';
import type { LiveOwner, Liveness } from './liveness.js';
import type { Principal } from './principal.js';

export interface VerificationOptions {
  readonly checkSignature: (presented: string) => SignedCredential | undefined;
  readonly liveness: Liveness;
  readonly clock: Clock;
  /** How far this machine's clock may run ahead of identity's, which has the last word. Milliseconds. */
  readonly clockToleranceMs: number;
}

function toPrincipal({ claims, scopes, token }: SignedCredential, owner: LiveOwner): Principal {
  if (claims.kind === 'service') return { kind: 'service', clientId: claims.sub, grantedScopes: scopes };
  return {
    kind: claims.kind,
    credentialId: claims.jti,
    userId: claims.sub,
    // Every claims check requires it of sessions and tokens.
    orgId: claims.org ?? '',
    email: owner.email,
    fullName: owner.fullName,
    role: owner.role,
    grantedScopes: scopes,
    expiresAt: claims.exp === undefined ? null : claims.exp * 1_000,
    token,
  };
}

/**
 * The one pipeline, in its two halves. Fails closed at every step. A refusal is a value rather than
 * an error: garbage must cost little, and a stack would tell nobody anything.
 */
export interface Verification {
  /**
   * Signature and expiry, without I/O.
   *
   * @returns undefined when it isn't ours, or expired.
   * @throws AppError 503 when that can't be known.
   */
  verifyLocally(presented: string): SignedCredential | undefined;
  /**
   * Is it still alive, and whose is it?
   *
   * @returns undefined when it is revoked, or its owner gone.
   * @throws AppError 503 when that can't be known.
   */
  verifyLiveness(credential: SignedCredential, requestId?: string): Promise<Principal | undefined>;
}

export function createVerification(options: VerificationOptions): Verification {
  const { checkSignature, liveness, clock, clockToleranceMs } = options;
  return {
    verifyLocally(presented) {
      const credential = checkSignature(presented);
      if (!credential) return undefined;
      const { exp } = credential.claims;
      return exp !== undefined && exp * 1_000 + clockToleranceMs <= clock() ? undefined : credential;
    },
    verifyLiveness: (credential, requestId) =>
      liveness(credential, requestId).then((owner) => owner && toPrincipal(credential, owner)),
  };
}
