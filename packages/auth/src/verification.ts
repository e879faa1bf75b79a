import type { Clock } from '@platform/service-kit';
import { invalidCredential, type RefusalMessages } from './challenges.js';
import type { SignedCredential } from './credential.js';
import type { LiveOwner, Liveness } from './liveness.js';
import type { Principal } from './principal.js';

export interface VerificationOptions {
  readonly checkSignature: (presented: string) => SignedCredential | undefined;
  readonly liveness: Liveness;
  readonly clock: Clock;
  /** How far this machine's clock may run ahead of identity's, which has the last word. Milliseconds. */
  readonly clockToleranceMs: number;
  readonly messages: RefusalMessages;
}

function principalOf({ claims, scopes, token }: SignedCredential, owner: LiveOwner): Principal {
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

/** The one pipeline, in its two halves. Fails closed at every step. */
export interface Verification {
  /**
   * Signature and expiry, without I/O.
   *
   * @throws AppError 401.
   */
  verifyLocally(presented: string): SignedCredential;
  /**
   * Is it still alive, and whose is it?
   *
   * @throws AppError 401, or 503 when it can't be known.
   */
  verifyLiveness(credential: SignedCredential): Promise<Principal>;
}

export function createVerification(options: VerificationOptions): Verification {
  const { checkSignature, liveness, clock, clockToleranceMs, messages } = options;
  // One error for all of them, made once: garbage must cost little, and a stack would tell nobody anything.
  const refusal = invalidCredential(messages);
  return {
    verifyLocally(presented) {
      const credential = checkSignature(presented);
      if (!credential) throw refusal;
      const { exp } = credential.claims;
      if (exp !== undefined && exp * 1_000 + clockToleranceMs <= clock()) throw refusal;
      return credential;
    },
    async verifyLiveness(credential) {
      const owner = await liveness(credential);
      if (!owner) throw refusal;
      return principalOf(credential, owner);
    },
  };
}
