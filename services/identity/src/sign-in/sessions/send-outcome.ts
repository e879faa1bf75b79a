import type { FastifyReply } from 'fastify';
import { unauthorised } from './errors.js';
import type { SignInOutcome } from './sign-in-outcome.js';

const missing = {
  verify: unauthorised('SECOND_FACTOR_REQUIRED', 'A second factor is required'),
  enrol: unauthorised(
    'SECOND_FACTOR_ENROLMENT_REQUIRED',
    'Your organisation requires a second factor: set one up to log in',
  ),
} as const;

/** The errors of a sign-in whose second step is missing. */
export const missingFactors = Object.values(missing);

/**
 * Sends the session, or a 401 that names the missing step. It is an error, so that a client that knows nothing of second
 * factors shows its message rather than take the answer for a session.
 */
export function sendOutcome(reply: FastifyReply, outcome: SignInOutcome): FastifyReply {
  if ('session' in outcome) return reply.send(outcome.session);
  const { step, challenge, expiresAt } = outcome.pending;
  const { statusCode, code, message, headers = {} } = missing[step];
  return reply
    .code(statusCode)
    .headers(headers)
    .send({ error: { code, message }, signIn: { challenge, expiresAt } });
}

/**
 * Has a browser forget the session: its cookies, and what it could show again when somebody goes back. Neither the cookie of
 * AUTH-13 nor what the console keeps (the look, offers that were declined) belongs to the session, so they stay.
 */
export const closeInBrowser = (reply: FastifyReply): FastifyReply =>
  reply.headers({
    'set-cookie': reply.server.sessionCookies.toClose(),
    'clear-site-data': '"cache"',
  });
