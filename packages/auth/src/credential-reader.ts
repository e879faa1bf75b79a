import type { AppError } from '@platform/service-kit';
import type { FastifyRequest } from 'fastify';
import { readBearer } from './bearer.js';
import {
  type AuthErrorMessages,
  foreignOrigin,
  invalidCredential,
  missingCredential,
  unreadableCredential,
} from './challenges.js';
import type { SignedCredential } from './credential.js';
import { readDpopToken } from './dpop.js';
import { CSRF_HEADER, type SessionCookies } from './session-cookies.js';
import type { Verification } from './verification.js';

/**
 * Finds the credential of a request and checks it without I/O, apart from the proof of a bound one. Refusals are returned
 * rather than thrown, since they are frequent: see Verification. The reader throws AppError 400 for a repeated
 * `Authorization` header, and 503 while the keys cannot be read.
 */
export function createCredentialReader(deps: {
  readonly verification: Verification;
  /** The audience of the service's own routes, which accept the session of a browser too. */
  readonly audience: string;
  readonly cookies: SessionCookies;
  readonly messages: AuthErrorMessages;
}) {
  const { verification, cookies, messages } = deps;
  // Created once, because they are sent many times.
  const missing = missingCredential(messages);
  const unreadable = unreadableCredential(messages);
  const refusal = invalidCredential(messages);
  const unproven = foreignOrigin();

  /** A cookie never replaces a header: a request with an `Authorization` header is verified by that alone. */
  function read(request: FastifyRequest, audience: string): SignedCredential | AppError {
    const acceptsCookie = audience === deps.audience && request.headers.authorization === undefined;
    const session = acceptsCookie ? cookies.readSession(request.raw) : undefined;
    if (session === undefined) return readHeader(request, audience);
    const isProven =
      cookies.isSameOrigin(request.raw) && cookies.isCsrfToken(session, request.headers[CSRF_HEADER]);
    if (!isProven) return unproven;
    const credential = verification.verifyLocally(session, audience);
    return credential?.claims.kind === 'session' ? credential : refusal;
  }

  function readHeader(request: FastifyRequest, audience: string): SignedCredential | AppError {
    const presented = readBearer(request.raw);
    if (presented === undefined) return readBoundCredential(request, audience);
    const credential = verification.verifyLocally(presented, audience);
    // A thief of a bound token would present it as a bearer, to avoid the proof.
    return credential && credential.claims.cnf === undefined ? credential : refusal;
  }

  function readBoundCredential(request: FastifyRequest, audience: string): SignedCredential | AppError {
    const presented = readDpopToken(request.raw);
    if (presented === undefined) return request.headers.authorization === undefined ? missing : unreadable;
    const credential = verification.verifyLocally(presented, audience);
    return credential?.claims.cnf ? credential : refusal;
  }

  return { read, readHeader };
}
export type CredentialReader = ReturnType<typeof createCredentialReader>;
