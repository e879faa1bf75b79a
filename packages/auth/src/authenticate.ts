import { AppError, asNothingDone, type Clock, dependencyUnavailable } from '@platform/service-kit';
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

/** Two hooks of a route: `authenticate` before its body is read, `authenticateAgain` after. */
export interface AuthenticationHooks {
  /** Fails with 401 without an active credential, and with 503 when that cannot be determined. Garbage costs no promise. */
  readonly authenticate: onRequestHookHandler;
  /**
   * Authenticates again when the body took long to arrive. Holding a body back must not let a caller act with a credential,
   * a role or a scope that was revoked meanwhile.
   */
  readonly authenticateAgain: preValidationHookHandler;
}

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
  const permissionsLost = asNothingDone(
    dependencyUnavailable('permissions', new Error('some were lost while the body came')),
  );

  const errors = [missingCredential(messages), foreignOrigin(), permissionsLost];
  const createHooks = (audience: string): AuthenticationHooks => ({
    authenticate: withDemand<onRequestHookHandler>(
      (request, _reply, done) => {
        verify(request, audience, done);
      },
      { errors },
    ),
    authenticateAgain: (request, _reply, done) => {
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
    },
  });

  const byAudience = new Map<string, AuthenticationHooks>();
  const againOf = new Map<unknown, preValidationHookHandler>();
  const serviceHooks = new Set<unknown>();
  function hooksFor(audience: string): AuthenticationHooks {
    const known = byAudience.get(audience);
    if (known) return known;
    const hooks = createHooks(audience);
    byAudience.set(audience, hooks);
    againOf.set(hooks.authenticate, hooks.authenticateAgain);
    return hooks;
  }

  return {
    /** Returns the hooks that accept the access tokens of an audience; they are the same ones for each call. */
    hooksFor,

    /** Returns the hook that belongs to `authenticate`; undefined for any other function. */
    findAgain: (authenticate: unknown): preValidationHookHandler | undefined => againOf.get(authenticate),

    /** Returns whether a hook fails without a credential: each route that has one needs a bearer. */
    isAuthenticating: (hook: unknown): boolean => againOf.has(hook) || serviceHooks.has(hook),

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
      serviceHooks.add(hook);
      return withDemand(hook, {
        ...demandService(scope),
        errors: [missingCredential(messages), ...(demandService(scope).errors ?? [])],
      });
    },
  };
}

export type Authentication = ReturnType<typeof createAuthentication>;
