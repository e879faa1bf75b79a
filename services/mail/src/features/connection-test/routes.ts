import { getAccount, requireAdmin, requireScopes } from '@platform/auth';
import { type App, type CountRequest, errorResponses } from '@platform/service-kit';
import { readSmtpConfiguration } from '../smtp-configuration/configuration.js';
import { configurationIncomplete } from '../smtp-configuration/errors.js';
import type { SmtpConfigurations } from '../smtp-configuration/service.js';
import { ConnectionReport, TestConnectionBody } from './schemas.js';
import type { TestConnection } from './service.js';

/** Registers the connection test. It requires an administrator's session, or a token with `FETCH_CONFIG`. */
export function connectionTestRoute(
  app: App,
  deps: {
    readonly configurations: SmtpConfigurations;
    readonly testConnection: TestConnection;
    /** Counts the tests of an organisation. */
    readonly countTest: CountRequest;
  },
): void {
  app.post(
    '/api/v1/mail/testConnection',
    {
      onRequest: [app.authenticate, requireScopes(['FETCH_CONFIG']), requireAdmin()],
      schema: {
        operationId: 'testSmtpConnection',
        tags: ['SMTP configuration'],
        summary: 'Test the connection to an SMTP server, and explain what is wrong',
        description:
          'Without a body, the configured server is tested. Nothing is stored, apart from tokens of a provider.',
        body: TestConnectionBody,
        response: {
          200: ConnectionReport,
          ...errorResponses(400, 401, 403, 404, 429, configurationIncomplete()),
        },
      },
    },
    async (request) => {
      const { orgId } = getAccount(request);
      deps.countTest(orgId);
      const given = request.body?.smtp;
      const configuration = given
        ? readSmtpConfiguration(given)
        : await deps.configurations.reload(orgId, request.id);
      if (!configuration) throw configurationIncomplete();
      return deps.testConnection(orgId, configuration);
    },
  );
}
