import { requireSession } from '@platform/auth';
import { type App, errorResponses, withErrors } from '@platform/service-kit';
import { Type } from 'typebox';
import { getCaller } from '../../base/caller/actor.js';
import { getClient } from '../../base/caller/client.js';
import { LoginBody, LoginRefused, LoginResponse } from './schemas.js';
import { closeInBrowser, missingFactors, sendOutcome } from './send-outcome.js';
import { login, logout, type SessionContext } from './service.js';
import { providerRequired, wrongCredentials } from './errors.js';

const tags = ['Sessions'];

/** Open to everyone, with limits per account and per address. */
export function loginRoutes(app: App, ctx: SessionContext): void {
  app.post(
    '/api/v1/auth/login',
    {
      schema: {
        operationId: 'login',
        tags,
        summary: 'Log in with a password, or with a mailed code',
        description:
          'Opens a session of 24 hours. A password and a code are alternatives. An unknown account, a wrong password and a used code are the same 401 `INVALID_CREDENTIALS`. A member with a second factor gets no session yet, but 401 `SECOND_FACTOR_REQUIRED` with `signIn.challenge` for `loginSecondFactor`. Attempts are limited for each account and network.',
        body: LoginBody,
        response: {
          200: LoginResponse,
          401: withErrors(LoginRefused, [wrongCredentials(), providerRequired(), ...missingFactors]),
          ...errorResponses(400, 429),
        },
      },
    },
    async (request, reply) => sendOutcome(reply, await login(ctx, request.body, getClient(request))),
  );
}

/** For members with a session. */
export function logoutRoutes(app: App, ctx: SessionContext): void {
  app.post(
    '/api/v1/auth/logout',
    {
      onRequest: [app.authenticate, requireSession],
      schema: {
        operationId: 'logout',
        tags,
        summary: 'End this session',
        description:
          'The token and the cookie of the session are refused from then on, by every service. Cookies of a browser are deleted. Other sessions and tokens stay.',
        response: { 204: Type.Null(), ...errorResponses(401, 403) },
      },
    },
    async (request, reply) => {
      await logout(ctx, getCaller(request));
      if (request.headers.authorization === undefined) closeInBrowser(reply);
      return reply.code(204).send(null);
    },
  );
}
