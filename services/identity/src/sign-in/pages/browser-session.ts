import { AppError } from '@platform/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { toCaller } from '../../base/caller/actor.js';
import { getClient } from '../../base/caller/client.js';
import { keepBrowserSecret } from '../known-devices/browser-cookie.js';
import { createFormToken, toClosedForms } from '../page-kit/form-token.js';
import { type Page, sendPage } from '../page-kit/page.js';
import type { LoginResponse } from '../sessions/schemas.js';
import { bindToBrowser, logout, type SessionContext } from '../sessions/service.js';
import type { SignInOutcome } from '../sessions/sign-in-outcome.js';
import type { FormState } from './pages.js';
import { readReturnTo, toSignInPath } from './paths.js';
import { SECOND_FACTOR_PATH, SET_UP_PATH } from './second-factor-pages.js';

/** The cookie of a sign-in that awaits its second factor. It opens nothing but the pages of that. */
export const PENDING_COOKIE = 'sign_in';
const PENDING_SECONDS = 10 * 60;

/**
 * Opens the session in the browser. A session that the browser had ends: a browser is signed in once, and nobody goes on
 * with the session of the person before.
 */
export async function setBrowserSession(
  request: FastifyRequest,
  reply: FastifyReply,
  ctx: SessionContext,
  opened: LoginResponse,
): Promise<void> {
  const { sessionCookies } = request.server;
  await bindToBrowser(ctx, opened, keepBrowserSecret(request, reply), getClient(request));
  const previous = await request.server.findBrowserSession(request);
  if (previous) await logout(ctx, toCaller(previous, request));
  reply
    .header('set-cookie', sessionCookies.toOpen(opened.accessToken, opened.expiresIn))
    .header('set-cookie', toClosedForms(request));
  if (sessionCookies.readCookie(request.raw, PENDING_COOKIE) !== undefined)
    reply.header('set-cookie', sessionCookies.toCookie(PENDING_COOKIE, '', 0));
}

/** Opens the session in the browser and continues. */
export async function openBrowserSession(
  request: FastifyRequest,
  reply: FastifyReply,
  ctx: SessionContext,
  opened: LoginResponse,
  returnTo: string,
): Promise<FastifyReply> {
  await setBrowserSession(request, reply, ctx, opened);
  return reply.redirect(returnTo, 303);
}

/** Goes on after a first factor: with the session, or with the step that is missing. */
export async function continueSignIn(
  request: FastifyRequest,
  reply: FastifyReply,
  ctx: SessionContext,
  outcome: SignInOutcome,
  returnTo: string,
): Promise<FastifyReply> {
  if ('session' in outcome) return openBrowserSession(request, reply, ctx, outcome.session, returnTo);
  const { step, challenge } = outcome.pending;
  return reply
    .header('set-cookie', request.server.sessionCookies.toCookie(PENDING_COOKIE, challenge, PENDING_SECONDS))
    .redirect(toSignInPath(returnTo, step === 'verify' ? SECOND_FACTOR_PATH : SET_UP_PATH), 303);
}

/** Returns what a form contains, and sets the cookie of its token. */
export const getFormState = (
  request: FastifyRequest,
  reply: FastifyReply,
  { returnTo, email }: { readonly returnTo?: string | undefined; readonly email?: string },
): FormState => ({
  token: createFormToken(request, reply),
  returnTo: readReturnTo(returnTo),
  ...(email !== undefined && { email }),
});

/** The statuses of errors that a person can do something about in the form itself. */
const SHOWN_STATUSES: ReadonlySet<number> = new Set([400, 401, 409, 429]);

/** Shows a form again, with what was wrong. @throws the error when it isn't the person's. */
export function showAgain(
  reply: FastifyReply,
  error: unknown,
  toPage: (fault: string) => Page,
): FastifyReply {
  if (!(error instanceof AppError) || !SHOWN_STATUSES.has(error.statusCode)) throw error;
  const retryAfter = error.headers?.['retry-after'];
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
  return sendPage(reply, toPage(`${error.message}.`), { status: error.statusCode });
}
