import { requireSession } from '@platform/auth';
import type { App } from '@platform/service-kit';
import { getCaller } from '../../base/caller/actor.js';
import { bearer, errorResponses } from '../../base/openapi.js';
import { ChangePasswordBody, PasswordChanged } from './schemas.js';
import { type ChangeOwnPassword, createChangeOwnPassword } from './service.js';

/** For members with a session. */
function ownPasswordRoutes(app: App, changePassword: ChangeOwnPassword): void {
  app.post(
    '/api/v1/auth/password',
    {
      onRequest: [app.authenticate, requireSession],
      schema: {
        operationId: 'changeOwnPassword',
        tags: ['Account'],
        summary: 'Change the own password; all other sessions end',
        security: bearer,
        body: ChangePasswordBody,
        response: { 200: PasswordChanged, ...errorResponses(400, 401, 403, 429) },
      },
    },
    async (request) => ({
      message: 'Password changed',
      endedCount: await changePassword(getCaller(request), request.body),
    }),
  );
}

/** Registers the change of the caller's own password. */
export function registerOwnPassword(app: App, deps: Parameters<typeof createChangeOwnPassword>[0]): void {
  ownPasswordRoutes(app, createChangeOwnPassword(deps));
}
