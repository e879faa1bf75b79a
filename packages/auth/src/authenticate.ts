import { AppError, type Clock, dependencyUnavailable, notApplied } from '@platform/service-kit';
import type { FastifyRequest, onRequestHookHandler, preValidationHookHandler, RouteOptions } from 'fastify';
import { readBearer } from './bearer.js';
import { invalidCredential, missingCredential, type AuthErrorMessages } from './challenges.js';
import type { SignedCredential } from './credential.js';
import { assertService } from './guards.js';
import type { Principal } from './principal.js';
import type { Verification } from './verification.js';

/** What was verified before the body came counts this long, in milliseconds. */
const VERIFIED_FOR_MS = 1_000;

export interface Authentication {
  /** 401 without a living credential, 503 when that can't be known. Neither throws nor makes a promise for garbage. */
  readonly authenticate: onRequestHookHandler;
  /**
   * The same again, when the body was long in coming: whoever holds it back must not act with a credential that has ended,
   * or with a role that was lost, meanwhile.
   */
  readonly authenticateAgain: preValidationHookHandler;
  /**
   * Only another service of the platform, with the scope. Its signed claims are judged at once; whether it is alive is
   * what `verifyCaller` asks.
   */
  authenticateService(scope: string): onRequestHookHandler;
}

const getRole = (principal: Principal | null) =>
  principal?.kind === 'service' ? undefined : principal?.role;

export function createAuthentication(deps: {
  readonly verification: Verification;
  readonly messages: AuthErrorMessages;
  readonly clock: Clock;
}): Authentication {
  const { verification, messages, clock } = deps;
  // Made once, sent many times.
  const missing = missingCredential(messages);
  const refusal = invalidCredential(messages);
  const roleChanged = notApplied(dependencyUnavailable('role', new Error('it changed while the body came')));

  function readCredential(request: FastifyRequest): SignedCredential | AppError {
    const presented = readBearer(request.raw);
    if (presented === undefined) return missing;
    return verification.verifyLocally(presented) ?? refusal;
  }

  function verify(request: FastifyRequest, done: (error?: Error) => void): void {
    const credential = readCredential(request);
    if (credential instanceof AppError) {
      done(credential);
      return;
    }
    verification.verifyLiveness(credential, request.id).then((principal) => {
      request.principal = principal ?? null;
      request.verifiedAt = clock();
      // oxlint-disable-next-line promise/no-callback-in-promise -- Fastify's: it fails the request, and throws nothing
      done(principal ? undefined : refusal);
    }, done);
  }

  return {
    authenticate: (request, _reply, done) => {
      verify(request, done);
    },
    authenticateAgain: (request, _reply, done) => {
      // A clock that was set back says nothing of how long it was.
      if (Math.abs(clock() - request.verifiedAt) < VERIFIED_FOR_MS) {
        done();
        return;
      }
      const role = getRole(request.principal);
      verify(request, (error) => {
        // The guards have judged the role that was. What a member may do, an administrator may too.
        const isDemoted = role === 'admin' && getRole(request.principal) !== role;
        done(error ?? (isDemoted ? roleChanged : undefined));
      });
    },
    authenticateService: (scope) => (request, _reply, done) => {
      const credential = readCredential(request);
      if (credential instanceof AppError) {
        done(credential);
        return;
      }
      assertService({ kind: credential.claims.kind, grantedScopes: credential.scopes }, scope);
      request.verifyCaller = async () => {
        if (!(await verification.verifyLiveness(credential, request.id))) throw refusal;
      };
      done();
    },
  };
}

const hasBody = ({ method }: RouteOptions): boolean =>
  [method].flat().some((name) => name !== 'GET' && name !== 'HEAD');

/** An `onRoute` hook: routes that authenticate, and may have a body, do so again after it. */
export const withSecondLook =
  ({ authenticate, authenticateAgain }: Authentication) =>
  (route: RouteOptions): void => {
    if (!hasBody(route) || ![route.onRequest].flat().includes(authenticate)) return;
    route.preValidation = [authenticateAgain, ...[route.preValidation ?? []].flat()];
  };
