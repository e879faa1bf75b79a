import { getAccount, requireScopes, requireService, requireSession } from '@platform/auth';
import { type App, errorResponses, Message } from '@platform/service-kit';
import { Type } from 'typebox';
import { requireAdminRole } from '../../base/authority.js';
import { getCaller } from '../../base/caller/actor.js';
import { always } from '../../base/confirmation.js';
import {
  OrgQuery,
  SavedSmtpConfig,
  SaveSmtpConfigBody,
  SmtpConfigResponse,
  SmtpConfigWithSecrets,
} from './schemas.js';
import { getSmtp, getSmtpWithSecrets, removeSmtp, saveSmtp, type SmtpContext } from './service.js';

const tags = ['Configuration'];
const path = '/api/v1/configurationManager/smtpConfig';

/**
 * For administrators. Reading requires `config:read`. A change requires a session, because whoever chooses the SMTP
 * server can read the codes and links that are sent through it.
 */
function configurationRoutes(app: App, ctx: SmtpContext): void {
  const write = [app.authenticate, requireSession, requireAdminRole];
  app.get(
    path,
    {
      onRequest: [app.authenticate, requireScopes(['config:read']), requireAdminRole],
      schema: {
        operationId: 'getSmtpConfig',
        tags,
        summary: "The organisation's SMTP configuration, without its secrets",
        description: 'Passwords and secrets are never returned, only whether there is one.',
        response: { 200: SmtpConfigResponse, ...errorResponses(401, 403, 404) },
      },
    },
    async (request) => ({ smtp: await getSmtp(ctx, getAccount(request).orgId) }),
  );
  app.post(
    path,
    {
      onRequest: write,
      config: { needsConfirmation: always },
      schema: {
        operationId: 'saveSmtpConfig',
        tags,
        summary:
          'Set the SMTP configuration; `updateSmtpConfig` of the mail service makes it take effect at once',
        description:
          'Replaces the configuration, apart from secrets that are left out: these are kept while the server and the account stay the same, and null deletes them. All administrators are mailed. The server is not contacted: `testSmtpConnection` of the mail service does that.',
        body: SaveSmtpConfigBody,
        response: { 200: SavedSmtpConfig, ...errorResponses(400, 401, 403) },
      },
    },
    async (request) => ({
      message: 'SMTP configuration saved',
      smtp: await saveSmtp(ctx, getCaller(request), request.body),
    }),
  );
  app.delete(
    path,
    {
      onRequest: write,
      config: { needsConfirmation: always },
      schema: {
        operationId: 'removeSmtpConfig',
        tags,
        summary: 'Remove the SMTP configuration',
        description: 'Mails of the organisation fail with 404 from then on.',
        response: { 200: Message, ...errorResponses(401, 403, 404) },
      },
    },
    async (request) => {
      await removeSmtp(ctx, getCaller(request));
      return { message: 'SMTP configuration removed' };
    },
  );
}

/**
 * Registers the route of the mail service. It requires a service credential with `FETCH_CONFIG` and rejects a
 * member's token with that scope.
 */
function internalConfigurationRoutes(app: App, ctx: SmtpContext): void {
  app.get(
    '/api/v1/configurationManager/internal/smtpConfig',
    {
      onRequest: [app.authenticate, requireService('FETCH_CONFIG')],
      schema: {
        operationId: 'fetchSmtpConfig',
        tags: ['Services'],
        summary: "An organisation's SMTP configuration, with its secrets",
        querystring: OrgQuery,
        response: {
          200: Type.Object({ smtp: SmtpConfigWithSecrets }),
          ...errorResponses(400, 401, 403, 404),
        },
      },
    },
    async (request) => ({ smtp: await getSmtpWithSecrets(ctx, request.query.orgId) }),
  );
}

/** Registers the SMTP configuration, for administrators and for the mail service. */
export function registerConfiguration(app: App, ctx: SmtpContext): void {
  configurationRoutes(app, ctx);
  internalConfigurationRoutes(app, ctx);
}
