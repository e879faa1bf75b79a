import type { Clock } from '@platform/service-kit';
import type { CredentialClaims, SignedCredential } from './credential.js';
import type { LiveOwner, Liveness, Presentation } from './liveness.js';
import type { Principal } from './principal.js';

export interface VerificationOptions {
  readonly checkSignature: (presented: string) => SignedCredential | undefined;
  readonly liveness: Liveness;
  readonly clock: Clock;
  /** The time, in ms, by which this machine's clock may run ahead of identity's, whose clock decides. */
  readonly clockToleranceMs: number;
}

function toPrincipal({ claims, scopes, token }: SignedCredential, owner: LiveOwner): Principal | undefined {
  const { kind } = claims;
  if (kind === 'service') return { kind, clientId: claims.sub, grantedScopes: scopes };
  const account = {
    kind,
    credentialId: claims.jti,
    userId: claims.sub,
    // The check of the claims guarantees it for sessions and tokens.
    orgId: claims.org ?? '',
    email: owner.email,
    fullName: owner.fullName,
    role: owner.role,
    groups: owner.groups,
    grantedScopes: owner.scopes ?? scopes,
    bounds: owner.bounds,
    clientId: claims.client_id,
    expiresAt: claims.exp === undefined ? null : claims.exp * 1_000,
    token,
  };
  if (!owner.isServiceAccount) return account;
  // Identity opens no session for a service account.
  return kind === 'session' ? undefined : { ...account, kind, isServiceAccount: true };
}

const isFor = ({ aud }: CredentialClaims, audience: string): boolean =>
  typeof aud === 'string' ? aud === audience : aud?.includes(audience) === true;

export function createVerification(options: VerificationOptions) {
  const { checkSignature, liveness, clock, clockToleranceMs } = options;
  return {
    /**
     * Checks signature, expiry and audience, without I/O.
     *
     * @param audience - the service that an access token must name; null for any. Other credentials name none.
     * @returns undefined when the platform did not issue the credential, or it has expired.
     * @throws AppError 503 when that cannot be determined.
     */
    verifyLocally(presented: string, audience: string | null): SignedCredential | undefined {
      const credential = checkSignature(presented);
      if (!credential) return undefined;
      const { exp, kind } = credential.claims;
      if (kind === 'oauth' && audience !== null && !isFor(credential.claims, audience)) return undefined;
      return exp !== undefined && exp * 1_000 + clockToleranceMs <= clock() ? undefined : credential;
    },

    /**
     * Checks that the credential is still active, and finds its owner.
     *
     * @returns undefined when it was revoked or its owner was deleted.
     * @throws AppError 503 when that cannot be determined.
     */
    verifyLiveness: (
      credential: SignedCredential,
      presentation?: Presentation,
    ): Promise<Principal | undefined> =>
      liveness(credential, presentation).then((owner) => owner && toPrincipal(credential, owner)),
  };
}

/**
 * Verifies credentials in two steps, and fails closed in each. A refusal is a value rather than an error, because
 * garbage must cost little and its stack would be of no use.
 */
export type Verification = ReturnType<typeof createVerification>;
