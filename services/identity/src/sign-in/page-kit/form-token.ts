import { randomBytes } from 'node:crypto';
import { AppError } from '@platform/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { html, type Html } from './html.js';

/*
 * A form counts only when a page of this origin sent it: see `SessionCookies`. Its token belongs to the session of the
 * browser. A browser without one gets a cookie with a random value in its place, so that nobody can be signed in by a
 * form of another site (login CSRF).
 */

const COOKIE = 'form';
const MAX_AGE_SECONDS = 24 * 60 * 60;
const FIELD = 'csrf';

const getSecret = ({ server: { sessionCookies }, raw }: FastifyRequest): string | undefined =>
  sessionCookies.readSession(raw) ?? sessionCookies.readCookie(raw, COOKIE);

/** Returns the hidden field that every form contains. Opening a page sets the cookie that the field belongs to. */
export function createFormToken(request: FastifyRequest, reply: FastifyReply): Html {
  const { sessionCookies } = request.server;
  let secret = getSecret(request);
  if (request.method === 'GET' && sessionCookies.readSession(request.raw) === undefined) {
    secret ??= randomBytes(32).toString('base64url');
    reply.header('set-cookie', sessionCookies.toCookie(COOKIE, secret, MAX_AGE_SECONDS));
  }
  return html`<input type="hidden" name="${FIELD}" value="${sessionCookies.toCsrfToken(secret ?? '')}" />`;
}

/** Returns the value of `Set-Cookie` that ends the tokens of forms that were opened before a sign-in. */
export const toClosedForms = ({ server }: FastifyRequest): string =>
  server.sessionCookies.toCookie(COOKIE, '', 0);

/** A `preHandler` hook of every route that takes a form. @throws AppError 403 FORM_EXPIRED. */
export function requireFormToken(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  const { sessionCookies } = request.server;
  const secret = getSecret(request);
  const presented = (request.body as Record<string, unknown> | undefined)?.[FIELD];
  if (
    secret === undefined ||
    !sessionCookies.isSameOrigin(request.raw) ||
    !sessionCookies.isCsrfToken(secret, presented)
  )
    throw new AppError({
      status: 403,
      code: 'FORM_EXPIRED',
      message: 'This form is out of date, or your browser did not send its cookie. Open the page again.',
    });
  done();
}
