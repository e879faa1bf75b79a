import { Readable } from 'node:stream';
import { getAccount, requireAdmin, requireScopedToken, requireScopes } from '@platform/auth';
import { type App, errorResponses, IdPath, ListPageOf, Message } from '@platform/service-kit';
import { Type } from 'typebox';
import {
  BouncesBody,
  BouncesResponse,
  Suppression,
  SuppressionBody,
  SuppressionQuery,
  SuppressionResponse,
} from './schemas.js';
import type { SuppressionService } from './service.js';
import { tooManySuppressions } from './service.js';

const tags = ['Suppressions'];

/** Registers the webhook of providers, which requires a personal access token with `SEND_MAIL`. */
function bouncesRoute(app: App, service: SuppressionService): void {
  app.post(
    '/api/v1/mail/bounces',
    {
      onRequest: [app.authenticate, requireScopedToken('SEND_MAIL')],
      schema: {
        operationId: 'reportBounces',
        tags,
        summary: 'Report mails that bounced after the SMTP server had accepted them',
        description: 'The addresses get no mail for 90 days, apart from codes, resets and invitations.',
        body: BouncesBody,
        response: { 200: BouncesResponse, ...errorResponses(400, 401, 403, 409, tooManySuppressions()) },
      },
    },
    async (request) => {
      const { orgId, userId } = getAccount(request);
      const result = await service.reportBounces(orgId, request.body);
      request.log.info({ orgId, userId, ...result }, 'bounces reported');
      return result;
    },
  );
}

/** Registers the routes of the suppressions. They require an administrator's session, or a token with `SEND_MAIL`. */
export function suppressionRoutes(app: App, service: SuppressionService): void {
  bouncesRoute(app, service);
  const onRequest = [app.authenticate, requireScopes(['SEND_MAIL']), requireAdmin()];
  app.get(
    '/api/v1/mail/suppressions',
    {
      onRequest,
      schema: {
        operationId: 'listSuppressions',
        tags,
        summary: 'List the addresses that get no mail, newest first',
        description:
          'Pages by number, or by `cursor`. Codes, resets and invitations are sent to these addresses nevertheless.',
        querystring: SuppressionQuery,
        response: { 200: ListPageOf(Suppression), ...errorResponses(400, 401, 403) },
      },
    },
    (request) => service.list(getAccount(request).orgId, request.query),
  );
  app.get(
    '/api/v1/mail/suppressions/export',
    {
      onRequest,
      schema: {
        operationId: 'exportSuppressions',
        tags,
        summary: 'Export all suppressions as CSV',
        description: 'One line for each address, below a head.',
        response: {
          200: { content: { 'text/csv': { schema: Type.String() } }, description: 'CSV (RFC 4180)' },
          ...errorResponses(401, 403),
        },
      },
    },
    (request, reply) =>
      reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', 'attachment; filename="suppressions.csv"')
        .send(Readable.from(service.export(getAccount(request).orgId), { objectMode: false })),
  );
  app.post(
    '/api/v1/mail/suppressions',
    {
      onRequest,
      schema: {
        operationId: 'addSuppression',
        tags,
        summary: 'Suppress an address for 90 days',
        description:
          'An address that is suppressed already is suppressed for another 90 days. Codes, resets and invitations are sent nevertheless.',
        body: SuppressionBody,
        response: { 201: SuppressionResponse, ...errorResponses(400, 401, 403, 409, tooManySuppressions()) },
      },
    },
    async (request, reply) => {
      const { orgId, userId } = getAccount(request);
      const data = await service.add(orgId, request.body.address);
      request.log.info({ orgId, userId, suppression: data.id }, 'suppression added');
      return reply.code(201).send({ data });
    },
  );
  app.delete(
    '/api/v1/mail/suppressions/:id',
    {
      onRequest,
      schema: {
        operationId: 'removeSuppression',
        tags,
        summary: 'Send mail to an address again',
        description: 'It is suppressed again when mail to it bounces again.',
        params: IdPath,
        response: { 200: Message, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      const { orgId, userId } = getAccount(request);
      await service.remove(orgId, request.params.id);
      request.log.info({ orgId, userId, suppression: request.params.id }, 'suppression removed');
      return { message: 'Suppression removed' };
    },
  );
}
