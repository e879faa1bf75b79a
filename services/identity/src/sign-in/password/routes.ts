import { requireSession } from '@platform/auth';
import { type App, errorResponses } from '@platform/service-kit';
import { getCaller } from '../../base/caller/actor.js';
import { ChangePasswordBody, PasswordChanged } from './schemas.js';
import { changeOwnPassword, type OwnPasswordContext } from './service.js';
import { wrongPassword } from './confirm-password.js';

/** For members with a session. */
export function ownPasswordRoutes(app: App, ctx: OwnPasswordContext): void {
  app.post(
    '/api/v1/auth/password',
    {
      onRequest: [app.authenticate, requireSession],
      schema: {
        operationId: 'changeOwnPassword',
        tags: ['Account'],
        summary: 'Change the own password; all other sessions end',
        description:
          'Mailed codes and links end, too, and the member is mailed. Tokens and connected apps stay. Ten wrong passwords in 15 minutes are 429.',
        body: ChangePasswordBody,
        response: { 200: PasswordChanged, ...errorResponses(400, 401, 403, 429, wrongPassword()) },
      },
    },
    async (request) => ({
      message: 'Password changed',
      endedCount: await changeOwnPassword(ctx, getCaller(request), request.body),
    }),
  );
}
