import { AppError, type Clock, dependencyUnavailable, notApplied } from '@platform/service-kit';
import type { onRequestHookHandler, preValidationHookHandler } from 'fastify';
import { foreignOrigin, invalidCredential, missingCredential, type AuthErrorMessages } from './challenges.js';
import { createCredentialReader } from './credential-reader.js';
import type { VerifyProof } from './dpop.js';
import { withDemand } from './demands.js';
import { assertService, demandService } from './guards.js';
import type { Principal } from './principal.js';
import { createRequestVerifier, toPresentation } from './request-verifier.js';
import type { SessionCookies } from './session-cookies.js';
import type { Verification } from './verification.js';

/** The time, in ms, for which a verification from before the body arrived stays valid. */
const VERIFIED_FOR_MS = 1_000;

const getRole = (principal: Principal | null) =>
  principal?.kind === 'service' ? undefined : principal?.role;

/**
 * Returns whether the guards could refuse `now` what they allowed `before`. A promotion needs no check: administrators may
 * do what members may.
 */
function hasLostPermissions(before: Principal | null, now: Principal | null): boolean {
  if (getRole(before) === 'admin' && getRole(now) !== 'admin') return true;
  return [...(before?.grantedScopes ?? [])].some((scope) => !now?.grantedScopes.has(scope));
}

export function createAuthentication(deps: {
  readonly verification: Verification;
  readonly verifyProof: VerifyProof;
  /** The audience of the service's own routes, which accept the session of a browser too. */
  readonly audience: string;
  readonly cookies: SessionCookies;
  readonly messages: AuthErrorMessages;
  readonly clock: Clock;
}) {
  const { verification, messages, clock } = deps;
  const credentials = createCredentialReader(deps);
  const verify = createRequestVerifier({ ...deps, credentials });
  // Created once, because it is sent many times.
  const refusal = invalidCredential(messages);
  const permissionsLost = notApplied(
    dependencyUnavailable('permissions', new Error('some were lost while the body came')),
  );

  const errors = [missingCredential(messages), foreignOrigin(), permissionsLost];
  /** Holding a body back must not let a caller act with a credential, a role or a scope that was revoked meanwhile. */
  const reverifyFor =
    (audience: string): preValidationHookHandler =>
    (request, _reply, done) => {
      // A clock that was set back cannot show how much time has passed.
      if (Math.abs(clock() - request.verifiedAt) < VERIFIED_FOR_MS) {
        done();
        return;
      }
      const before = request.principal;
      const finish = (error?: Error): void => {
        done(error ?? (hasLostPermissions(before, request.principal) ? permissionsLost : undefined));
      };
      // The proof of the request was verified before its body arrived, and counts once.
      verify(request, audience, finish, { isProven: true });
    };

  return {
    /**
     * Accepts the access tokens of an audience. It fails with 401 without an active credential, and with 503 when that
     * cannot be determined. A malformed credential is refused without a promise.
     */
    authenticateFor: (audience: string): onRequestHookHandler =>
      withDemand<onRequestHookHandler>(
        (request, _reply, done) => {
          verify(request, audience, done);
        },
        { errors, isAuthentication: true, reverifyAfterBody: reverifyFor(audience) },
      ),

    /**
     * Accepts only another service of the platform that has the scope. Its signed claims are checked at once;
     * `verifyCaller` checks that the service is still active.
     */
    authenticateService(scope: string): onRequestHookHandler {
      const hook: onRequestHookHandler = (request, _reply, done) => {
        const credential = credentials.readHeader(request, deps.audience);
        if (credential instanceof AppError) {
          done(credential);
          return;
        }
        assertService({ kind: credential.claims.kind, grantedScopes: credential.scopes }, scope);
        request.verifyCaller = async () => {
          if (!(await verification.verifyLiveness(credential, toPresentation(request)))) throw refusal;
        };
        done();
      };
      return withDemand(hook, {
        ...demandService(scope),
        isAuthentication: true,
        errors: [missingCredential(messages), ...(demandService(scope).errors ?? [])],
      });
    },
  };
}
