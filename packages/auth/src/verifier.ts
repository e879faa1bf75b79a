// The npm package, for servers without Fastify: anything exported here is public.
import { AppError, systemClock } from '@platform/service-kit';
import { parseBearer } from './bearer.js';
import { invalidCredential, missingCredential, standardAuthErrors } from './challenges.js';
import {
  CLOCK_TOLERANCE_MS,
  createVerifierClient,
  DEFAULT_ISSUER,
  type VerifierOptions,
} from './identity-client.js';
import { createJwtCheck } from './jwt.js';
import type { Presentation } from './liveness.js';
import type { AccountPrincipal } from './principal.js';
import { createSignatureCheck } from './signature.js';
import { createVerification } from './verification.js';

export { type AccountPrincipal, hasScope } from './principal.js';
export type { VerifierOptions } from './identity-client.js';
export type { Presentation } from './liveness.js';

export interface PresentedCredential extends Presentation {
  /** The value of the `Authorization` header. */
  readonly authorization: string | undefined;
}

/** The rejection of `verify`: an answer in HTTP. */
export interface Refusal extends Error {
  /** 401 for a missing or invalid credential, 503 when identity cannot be asked. */
  readonly statusCode: number;
  readonly code: string;
  /** `WWW-Authenticate` or `Retry-After`. */
  readonly headers: Readonly<Record<string, string>> | undefined;
}

/** Returns whether `verify` refused the request; anything else that it rejects with is a fault. */
export const isRefusal = (error: unknown): error is Refusal => error instanceof AppError;

/**
 * Creates a verifier of sessions and personal access tokens. OAuth access tokens are refused: they name the service that
 * they are for.
 */
export async function createVerifier(options: VerifierOptions) {
  const identity = createVerifierClient(options);
  const { verifyLocally, verifyLiveness } = createVerification({
    checkSignature: createSignatureCheck(identity.keySet, createJwtCheck(options.issuer ?? DEFAULT_ISSUER)),
    liveness: identity.liveness,
    clock: systemClock,
    clockToleranceMs: CLOCK_TOLERANCE_MS,
  });
  await identity.start();
  return {
    /**
     * Finds the account that a request acts as. Its scopes are checked with {@link hasScope}.
     *
     * @throws Refusal
     */
    async verify({ authorization, ...presentation }: PresentedCredential): Promise<AccountPrincipal> {
      const presented = authorization === undefined ? undefined : parseBearer(authorization);
      if (presented === undefined) throw missingCredential(standardAuthErrors);
      const credential = verifyLocally(presented, null);
      const isAccepted = credential?.claims.kind === 'session' || credential?.claims.kind === 'pat';
      const principal = isAccepted ? await verifyLiveness(credential, presentation) : undefined;
      if (!principal || principal.kind === 'service') throw invalidCredential(standardAuthErrors);
      return principal;
    },

    /** Closes the connections to identity. */
    close: (): Promise<void> => identity.close(),
  };
}

export type Verifier = Awaited<ReturnType<typeof createVerifier>>;
