import { CRAWL_NOTICE_PATH, CrawlNotice, NOTICE_SCOPE, requireService } from '@platform/auth';
import type { App, Clock } from '@platform/service-kit';
import { Type } from 'typebox';
import { bearer, errorResponses } from '../base/openapi.js';
import { describeCrawls } from '../mails/outbox/crawl-emails.js';
import type { Outbox } from '../mails/outbox/outbox.js';
import type { Prisma } from '../resources.js';
import { findAdministrators } from './organisation/administration.js';

interface CrawlNoticeContext {
  readonly prisma: Prisma;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

/** Stores a mail for each administrator of the organisation. @returns how many there are. */
async function notifyOfCrawls(
  { prisma, outbox, clock }: CrawlNoticeContext,
  { orgId, crawls }: CrawlNotice,
  requestId: string,
): Promise<number> {
  const at = new Date(clock());
  const detail = describeCrawls(crawls);
  const recipients = await prisma.$transaction(async (tx) => {
    const administrators = await findAdministrators(tx, orgId);
    for (const { id: userId } of administrators)
      await outbox.add(tx, { kind: 'crawl_notice', to: { userId }, detail, requestId }, at);
    return administrators.length;
  });
  outbox.wake();
  return recipients;
}

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
