import { AppError } from '@platform/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { toCaller } from '../audit/actor.js';
import { createFormToken, toClosedForms } from '../pages/form-token.js';
import { type Page, sendPage } from '../pages/page.js';
import type { LoginResponse } from '../sessions/schemas.js';
import type { SessionService } from '../sessions/service.js';
import type { FormState } from './pages.js';
import { readReturnTo } from './paths.js';

/**
 * Opens the session in the browser and continues. A session that the browser had ends: a browser is signed in once, and
 * nobody goes on with the session of the person before.
 */
export async function openBrowserSession(
  request: FastifyRequest,
  reply: FastifyReply,
  sessions: SessionService,
  opened: LoginResponse,
  returnTo: string,
): Promise<FastifyReply> {
  const { sessionCookies } = request.server;
  const previous = await request.server.findBrowserSession(request);
  if (previous) await sessions.logout(toCaller(previous, request));
  return reply
    .header('set-cookie', sessionCookies.toOpen(opened.accessToken, opened.expiresIn))
    .header('set-cookie', toClosedForms(request))
    .header('cache-control', 'no-store')
    .redirect(returnTo, 303);
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
