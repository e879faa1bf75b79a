import { AppError, type Clock, dependencyUnavailable, notApplied } from '@platform/service-kit';
import type {
  FastifyReply,
  FastifyRequest,
  onRequestHookHandler,
  preValidationHookHandler,
  RouteOptions,
} from 'fastify';
import { readBearer } from './bearer.js';
import { foreignOrigin, invalidCredential, missingCredential, type AuthErrorMessages } from './challenges.js';
import type { SignedCredential } from './credential.js';
import { assertService, findRequiredScopes } from './guards.js';
import type { Presentation } from './liveness.js';
import type { Principal } from './principal.js';
import { CSRF_HEADER, type SessionCookies } from './session-cookies.js';
import type { Verification } from './verification.js';

/** How long, in ms, a verification from before the body arrived stays valid. */
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

/** A verification that overlaps with the query of its route. */
export interface OverlappedAuthentication<T> {
  /** Replaces `authenticate`. Only routes without a body can use it. */
  readonly authenticate: onRequestHookHandler;
  /**
   * Returns the loaded value. Only a handler calls it, so that a request that an earlier hook refused never gets it.
   */
  load(request: FastifyRequest): Promise<T>;
}

export interface Authentication {
  /** Returns the hooks that accept the access tokens of an audience; they are the same ones for each call. */
  hooksFor(audience: string): AuthenticationHooks;
  /** Returns the hook that belongs to `authenticate`; undefined for any other function. */
  findAgain(authenticate: unknown): preValidationHookHandler | undefined;
  /**
   * Calls `load` with the organisation of the signed claims while it checks that the credential is active: a route that only
   * reads takes one round trip instead of two. The result is discarded when the credential is refused.
   */
  authenticateWhile<T>(
    load: (orgId: string, request: FastifyRequest) => T | Promise<T>,
  ): OverlappedAuthentication<T>;
  /**
   * Accepts only another service of the platform that has the scope. Its signed claims are checked at once;
   * `verifyCaller` checks that the service is still active.
   */
  authenticateService(scope: string): onRequestHookHandler;
}

/** The hooks of {@link Authentication.authenticateWhile}. */
const overlappedHooks = new WeakSet<object>();

export const toPresentation = ({ id, ip, headers, routeOptions }: FastifyRequest): Presentation => ({
  requestId: id,
  address: ip,
  userAgent: headers['user-agent'],
  requiredScopes: routeOptions.config.requiredScopes,
});

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
  /** The audience of the service's own routes, which accept the session of a browser too. */
  readonly audience: string;
  readonly cookies: SessionCookies;
  readonly messages: AuthErrorMessages;
  readonly clock: Clock;
}): Authentication {
  const { verification, cookies, messages, clock } = deps;
  // Created once, because it is sent many times.
  const missing = missingCredential(messages);
  const refusal = invalidCredential(messages);
  const unproven = foreignOrigin();
  const permissionsLost = notApplied(
    dependencyUnavailable('permissions', new Error('some were lost while the body came')),
  );

  function readBearerCredential(request: FastifyRequest, audience: string): SignedCredential | AppError {
    const presented = readBearer(request.raw);
    if (presented === undefined) return missing;
    return verification.verifyLocally(presented, audience) ?? refusal;
  }

  /** A cookie never replaces a header: a request with an `Authorization` header is judged by that alone. */
  function readCredential(
    request: FastifyRequest,
    reply: FastifyReply,
    audience: string,
  ): SignedCredential | AppError {
    const acceptsCookie = audience === deps.audience && request.headers.authorization === undefined;
    const session = acceptsCookie ? cookies.readSession(request.raw) : undefined;
    if (session === undefined) return readBearerCredential(request, audience);
    // Shared caches store the response to a request with a cookie unless they are told not to (RFC 9111 §3.5 is about
    // bearers only).
    reply.header('cache-control', 'no-store');
    const isProven =
      cookies.isSameOrigin(request.raw) && cookies.isCsrfToken(session, request.headers[CSRF_HEADER]);
    if (!isProven) return unproven;
    const credential = verification.verifyLocally(session, audience);
    return credential?.claims.kind === 'session' ? credential : refusal;
  }

  function verify(
    request: FastifyRequest,
    reply: FastifyReply,
    audience: string,
    done: (error?: Error) => void,
    onSigned?: (credential: SignedCredential) => void,
  ): void {
    const credential = readCredential(request, reply, audience);
    if (credential instanceof AppError) {
      done(credential);
      return;
    }
    onSigned?.(credential);
    verification.verifyLiveness(credential, toPresentation(request)).then((principal) => {
      request.principal = principal ?? null;
      request.verifiedAt = clock();
      // oxlint-disable-next-line promise/no-callback-in-promise -- Fastify's own callback: it fails the request and does not throw
      done(principal ? undefined : refusal);
    }, done);
  }

  const createHooks = (audience: string): AuthenticationHooks => ({
    authenticate: (request, reply, done) => {
      verify(request, reply, audience, done);
    },
    authenticateAgain: (request, reply, done) => {
      // A clock that was set back cannot tell how much time has passed.
      if (Math.abs(clock() - request.verifiedAt) < VERIFIED_FOR_MS) {
        done();
        return;
      }
      const before = request.principal;
      verify(request, reply, audience, (error) => {
        done(error ?? (hasLostPermissions(before, request.principal) ? permissionsLost : undefined));
      });
    },
  });

  const byAudience = new Map<string, AuthenticationHooks>();
  const againOf = new Map<unknown, preValidationHookHandler>();
  function hooksFor(audience: string): AuthenticationHooks {
    const known = byAudience.get(audience);
    if (known) return known;
    const hooks = createHooks(audience);
    byAudience.set(audience, hooks);
    againOf.set(hooks.authenticate, hooks.authenticateAgain);
    return hooks;
  }

  return {
    hooksFor,
    findAgain: (authenticate) => againOf.get(authenticate),
    authenticateWhile: <T>(load: (orgId: string, request: FastifyRequest) => T | Promise<T>) => {
      const start = async (orgId: string, request: FastifyRequest) => load(orgId, request);
      const authenticate: onRequestHookHandler = (request, reply, done) => {
        verify(request, reply, deps.audience, done, ({ claims: { org } }) => {
          // A service belongs to no organisation; the guards of the route refuse it.
          if (org === undefined) return;
          const loading = start(org, request);
          // The handler reports a failure, unless the request is refused before.
          loading.catch(() => undefined);
          request.loading = loading;
        });
      };
      overlappedHooks.add(authenticate);
      return {
        authenticate,
        load: (request) => (request.loading ?? Promise.reject(refusal)) as Promise<T>,
      };
    },
    authenticateService: (scope) => (request, _reply, done) => {
      const credential = readBearerCredential(request, deps.audience);
      if (credential instanceof AppError) {
        done(credential);
        return;
      }
      assertService({ kind: credential.claims.kind, grantedScopes: credential.scopes }, scope);
      request.verifyCaller = async () => {
        if (!(await verification.verifyLiveness(credential, toPresentation(request)))) throw refusal;
      };
      done();
    },
  };
}

/**
 * An `onRoute` hook that stores with each route the scopes that its guards require, because a credential is verified
 * before they run.
 */
export function keepRequiredScopes(route: RouteOptions): void {
  const requiredScopes = findRequiredScopes([route.onRequest ?? []].flat());
  if (requiredScopes.length > 0) route.config = { ...route.config, requiredScopes };
}

const hasBody = ({ method }: RouteOptions): boolean =>
  [method].flat().some((name) => name !== 'GET' && name !== 'HEAD');

/**
 * An `onRoute` hook that makes routes with authentication and a possible body authenticate again after the body.
 *
 * @throws Error for a route that may have a body and loads something while it authenticates.
 */
export const reverifyAfterBody =
  ({ findAgain }: Authentication) =>
  (route: RouteOptions): void => {
    if (!hasBody(route)) return;
    const hooks = [route.onRequest ?? []].flat();
    if (hooks.some((hook) => overlappedHooks.has(hook)))
      throw new Error(`${route.url} may have a body, so it must not load anything before it authenticates`);
    const again = hooks.map(findAgain).find(Boolean);
    if (!again) return;
    route.preValidation = [again, ...[route.preValidation ?? []].flat()];
  };
