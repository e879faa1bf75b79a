import { getAccount, requireScopedToken } from '@platform/auth';
import { type App, errorResponses } from '@platform/service-kit';
import { Type } from 'typebox';
import { configurationIncomplete, runtimeNotUp } from './errors.js';
import type { SmtpConfigurations } from './service.js';

const UpdateResponse = Type.Object({
  message: Type.String(),
  smtp: Type.Object({
    host: Type.String(),
    port: Type.Integer(),
    fromEmail: Type.String(),
    username: Type.Optional(Type.String()),
  }),
});

/** Registers `updateSmtpConfig`, which requires a personal access token with `FETCH_CONFIG`. */
export function smtpConfigurationRoutes(
  app: App,
  deps: { readonly configurations: SmtpConfigurations; readonly runtime: { readonly isUp: boolean } },
): void {
  app.post(
    '/api/v1/mail/updateSmtpConfig',
    {
      onRequest: [app.authenticate, requireScopedToken('FETCH_CONFIG')],
      schema: {
        operationId: 'updateSmtpConfig',
        tags: ['SMTP configuration'],
        summary: 'Reload the SMTP configuration; the next mail uses it',
        description: 'Takes no body. Without it, a change takes effect within a minute.',
        response: { 200: UpdateResponse, ...errorResponses(400, 401, 403, 404, configurationIncomplete()) },
      },
    },
    async (request) => {
      if (!deps.runtime.isUp) throw runtimeNotUp();
      const { host, port, fromEmail, username } = await deps.configurations.reload(
        getAccount(request).orgId,
        request.id,
      );
      return {
        message: 'SMTP configuration updated',
        smtp: { host, port, fromEmail, ...(username === undefined ? {} : { username }) },
      };
    },
  );
}
