import { AppError } from '@platform/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { getFormState, PENDING_COOKIE, showAgain } from './browser-session.js';
import { signInPage } from './pages.js';
import { toSignInPath } from './paths.js';

/* The common parts of the pages of a pending sign-in. The browser keeps its challenge in a cookie, which opens nothing else. */

export const ReturnTo = Type.Object({ returnTo: Type.Optional(Type.String({ maxLength: 4_096 })) });
/** The field that the script of the page fills with JSON. */
export const PasskeyText = Type.String({ maxLength: 65_536 });

export const getChallenge = (request: FastifyRequest): string =>
  request.server.sessionCookies.readCookie(request.raw, PENDING_COOKIE) ?? '';

const isExpired = (error: unknown): boolean => error instanceof AppError && error.code === 'SIGN_IN_EXPIRED';

/** The variable content of a page of a pending sign-in. */
export interface Shown {
  readonly returnTo: string;
  /** The error that the submitted form caused. */
  readonly error?: unknown;
}

/** Leads a sign-in that has expired to its beginning: a page that was opened goes there, a form that was sent says why. */
export async function orRestart(
  request: FastifyRequest,
  reply: FastifyReply,
  returnTo: string,
  run: () => Promise<FastifyReply>,
): Promise<FastifyReply> {
  try {
    return await run();
  } catch (error) {
    if (!isExpired(error)) throw error;
    if (request.method === 'GET') return reply.redirect(toSignInPath(returnTo), 303);
    const state = getFormState(request, reply, { returnTo });
    return showAgain(reply, error, (fault) => signInPage({ ...state, fault }));
  }
}

/** Runs what a form asks for. Faults are shown in the form, except faults that end the sign-in. */
export async function orShowAgain(
  run: () => Promise<FastifyReply>,
  show: (error: unknown) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  try {
    return await run();
  } catch (error) {
    if (isExpired(error)) throw error;
    return show(error);
  }
}
