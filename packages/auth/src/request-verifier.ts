import { AppError, type Clock } from '@platform/service-kit';
import type { FastifyRequest } from 'fastify';
import { invalidCredential, type AuthErrorMessages } from './challenges.js';
import type { SignedCredential } from './credential.js';
import type { CredentialReader } from './credential-reader.js';
import { invalidProof, type VerifyProof } from './dpop.js';
import type { Presentation } from './liveness.js';
import type { Principal } from './principal.js';
import type { Verification } from './verification.js';

interface VerifyOptions {
  /** Whether the proof of a bound credential was verified before, for this request. */
  readonly isProven?: boolean;
}

export const toPresentation = ({ id, ip, headers }: FastifyRequest): Presentation => ({
  requestId: id,
  address: ip,
  userAgent: headers['user-agent'],
});

/** Creates a function that verifies the credential of a request and sets its principal. A malformed one is refused without a promise. */
export function createRequestVerifier(deps: {
  readonly credentials: CredentialReader;
  readonly verification: Verification;
  readonly verifyProof: VerifyProof;
  readonly messages: AuthErrorMessages;
  readonly clock: Clock;
}) {
  const { credentials, verification, verifyProof, messages, clock } = deps;
  // Created once, because they are sent many times.
  const refusal = invalidCredential(messages);
  const proofRefusal = invalidProof(messages.invalidCredential);

  /** @throws AppError 401 when the request lacks the proof that a bound credential needs, or it was used before; 429. */
  async function verifyBinding(
    request: FastifyRequest,
    credential: SignedCredential,
  ): Promise<Principal | undefined> {
    const useProof = await verifyProof(request.raw, credential);
    if (!useProof) throw proofRefusal;
    const principal = await verification.verifyLiveness(credential, toPresentation(request));
    // Whoever has a credential that has ended could fill the memory of proofs.
    if (principal && !useProof()) throw proofRefusal;
    return principal;
  }

  return (
    request: FastifyRequest,
    audience: string,
    done: (error?: Error) => void,
    { isProven = false }: VerifyOptions = {},
  ): void => {
    const credential = credentials.read(request, audience);
    if (credential instanceof AppError) {
      done(credential);
      return;
    }
    const isBound = credential.claims.cnf !== undefined && !isProven;
    const verified = isBound
      ? verifyBinding(request, credential)
      : verification.verifyLiveness(credential, toPresentation(request));
    verified.then((principal) => {
      request.principal = principal ?? null;
      request.verifiedAt = clock();
      // oxlint-disable-next-line promise/no-callback-in-promise -- Fastify's own callback: it fails the request and does not throw
      done(principal ? undefined : refusal);
    }, done);
  };
}
