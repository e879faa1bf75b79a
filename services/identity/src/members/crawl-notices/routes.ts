import { CRAWL_NOTICE_PATH, CrawlNotice, NOTICE_SCOPE, requireService } from '@platform/auth';
import type { App } from '@platform/service-kit';
import { Type } from 'typebox';
import { bearer, errorResponses } from '../../base/openapi.js';
import { type CrawlNoticeContext, notifyOfCrawls } from './service.js';

/**
 * Registers the route of the crawl service. The mails are stored when it answers, so crawl can forget the notice: it
 * requires a service credential with `admins:notify`.
 */
export function registerCrawlNotices(app: App, ctx: CrawlNoticeContext): void {
  app.post(
    CRAWL_NOTICE_PATH,
    {
      onRequest: [app.authenticate, requireService(NOTICE_SCOPE)],
      schema: {
        operationId: 'notifyOfCrawls',
        tags: ['Services'],
        summary: "Mail an organisation's administrators about crawls that keep failing, or complete again",
        security: bearer,
        body: CrawlNotice,
        response: {
          202: Type.Object({ recipients: Type.Integer() }),
          ...errorResponses(400, 401, 403),
        },
      },
    },
    async (request, reply) =>
      reply.code(202).send({ recipients: await notifyOfCrawls(ctx, request.body, request.id) }),
  );
}
