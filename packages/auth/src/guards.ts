import { AppError } from '@platform/service-kit';
import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import {
  insufficientScope,
  invalidCredential,
  type AuthErrorMessages,
  standardAuthErrors,
} from './challenges.js';
import { type AccountPrincipal, hasScope, type Principal, type UserPrincipal } from './principal.js';
import { type Demand, withDemand } from './demands.js';
import type { Scope } from './scopes.js';

/*
 * Guards run after `authenticate` and before the body is read. Each one checks a single condition; a route lists the
 * guards that it needs, in order.
 */

/** Returns the principal that `authenticate` found. @throws AppError 401 on a route without `authenticate`. */
export function getPrincipal(request: FastifyRequest): Principal {
  if (!request.principal) throw invalidCredential(standardAuthErrors);
  return request.principal;
}

const memberRequired = {
  status: 403,
  code: 'MEMBER_REQUIRED',
  message: 'A member is required',
} as const;

/** Returns the member or service account that made the request. @throws AppError 403 for a service of the platform. */
export function getAccount(request: FastifyRequest): AccountPrincipal {
  const principal = getPrincipal(request);
  if (principal.kind === 'service') throw new AppError(memberRequired);
  return principal;
}

/** Returns the account if it is a person's. @throws AppError 403 for a service account. */
export function toMember(account: AccountPrincipal): UserPrincipal {
  if (account.isServiceAccount) throw new AppError(memberRequired);
  return account;
}

/** Returns the member who made the request. @throws AppError 403 for a service account, and for a service. */
export const getMember = (request: FastifyRequest): UserPrincipal => toMember(getAccount(request));

/** Requires a member or a service account of an organisation. */
export const requireAccount: onRequestHookHandler = withDemand<onRequestHookHandler>(
  (request, _reply, done) => {
    getAccount(request);
    done();
  },
  { errors: [new AppError(memberRequired)] },
);

/** Requires a member: service accounts and the platform's own services are refused. */
export const requireMember: onRequestHookHandler = withDemand<onRequestHookHandler>(
  (request, _reply, done) => {
    getMember(request);
    done();
  },
  { who: 'a member', errors: [new AppError(memberRequired)] },
);

function createScopeGuard(
  scopes: readonly Scope[],
  messages: AuthErrorMessages,
  canPass: (principal: Principal) => boolean,
  demand: Demand = {},
): onRequestHookHandler {
  const errors = [insufficientScope(messages, scopes)];
  return withDemand<onRequestHookHandler>(
    (request, _reply, done) => {
      if (!canPass(getPrincipal(request))) throw insufficientScope(messages, scopes);
      done();
    },
    { scopes, errors, ...demand },
  );
}

/** Requires all of the scopes. Sessions pass, because they are not subject to scopes. */
export const requireScopes = (
  scopes: readonly Scope[],
  messages: AuthErrorMessages = standardAuthErrors,
): onRequestHookHandler =>
  createScopeGuard(scopes, messages, (principal) => scopes.every((scope) => hasScope(principal, scope)));

/** Requires a token with the scope. A session is refused, because it isn't limited to scopes. */
export const requireScopedToken = (scope: Scope): onRequestHookHandler =>
  createScopeGuard(
    [scope],
    standardAuthErrors,
    (principal) => (principal.kind === 'pat' || principal.kind === 'oauth') && hasScope(principal, scope),
    { kinds: ['token', 'oauth'] },
  );

/** The error for members who call an administrators' route. */
export const adminRequired = {
  status: 403,
  code: 'ADMIN_REQUIRED',
  message: 'Admin privileges required',
} as const;

/** Requires that the owner is an administrator now. */
export const requireAdmin = (status: 400 | 403 = 403): onRequestHookHandler =>
  withDemand<onRequestHookHandler>(
    (request, _reply, done) => {
      const principal = getPrincipal(request);
      if (principal.kind === 'service' || principal.role !== 'admin')
        throw new AppError({ ...adminRequired, status });
      done();
    },
    { who: 'an administrator', errors: [new AppError({ ...adminRequired, status })] },
  );

const sessionRequired = {
  status: 403,
  code: 'SESSION_REQUIRED',
  message: 'A session is required: log in, a token cannot do this',
} as const;

/** Requires a session: a person who logged in rather than a token that acts for one. */
export const requireSession: onRequestHookHandler = withDemand<onRequestHookHandler>(
  (request, _reply, done) => {
    if (getPrincipal(request).kind !== 'session') throw new AppError(sessionRequired);
    done();
  },
  { kinds: ['session'], errors: [new AppError(sessionRequired)] },
);

const serviceRequired = (): AppError =>
  new AppError({ status: 403, code: 'SERVICE_REQUIRED', message: 'A service credential is required' });

/** What a route for another service of the platform demands. */
export const demandService = (...scopes: readonly string[]): Demand => ({
  kinds: ['service'],
  scopes,
  errors: [serviceRequired(), insufficientScope(standardAuthErrors, scopes)],
});

/** @throws AppError 403 unless it is another service of the platform, with the scope. */
export function assertService(
  { kind, grantedScopes }: Pick<Principal, 'kind' | 'grantedScopes'>,
  scope: string,
): void {
  if (kind !== 'service') throw serviceRequired();
  if (!grantedScopes.has(scope)) throw insufficientScope(standardAuthErrors, [scope]);
}

/**
 * Checks that the service that `authenticateService` let in is still active. A handler awaits this in parallel with its
 * own queries, and before it answers.
 *
 * @throws AppError 401 when it is not active, or on a route without that hook; 503 when that cannot be determined.
 */
export const verifyCaller = (request: FastifyRequest): Promise<void> =>
  request.verifyCaller?.() ?? Promise.reject(invalidCredential(standardAuthErrors));

/** Requires another service of the platform that has the scope. */
export function requireService(scope: string): onRequestHookHandler {
  return withDemand<onRequestHookHandler>((request, _reply, done) => {
    assertService(getPrincipal(request), scope);
    done();
  }, demandService(scope));
}
