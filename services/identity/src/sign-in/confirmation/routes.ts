import { requireSession } from '@platform/auth';
import { type App, errorResponses } from '@platform/service-kit';
import { Type } from 'typebox';
import { getCaller } from '../../base/caller/actor.js';
import { type ConfirmationContext, confirmSession } from './service.js';
import { wrongPassword } from '../password/confirm-password.js';

const ConfirmSessionBody = Type.Object(
  { currentPassword: Type.String({ minLength: 1, maxLength: 256 }) },
  { additionalProperties: false },
);

const SessionConfirmed = Type.Object({
  message: Type.String(),
  confirmedUntil: Type.String({ format: 'date-time' }),
});

/** For members with a session. */
export function sessionConfirmationRoutes(app: App, ctx: ConfirmationContext): void {
  app.post(
    '/api/v1/sessions/confirm',
    {
      onRequest: [app.authenticate, requireSession],
      schema: {
        operationId: 'confirmSession',
        tags: ['Sessions'],
        summary: 'Enter the own password again, before dangerous acts in a browser',
        description:
          'Acts that need it then work for ten minutes. Ten wrong passwords in 15 minutes are 429, and each is in the audit.',
        body: ConfirmSessionBody,
        response: { 200: SessionConfirmed, ...errorResponses(400, 401, 403, 429, wrongPassword()) },
      },
    },
    async (request) => {
      const until = await confirmSession(ctx, getCaller(request), request.body.currentPassword);
      return { message: 'Session confirmed', confirmedUntil: until.toISOString() };
    },
  );
}
