import type { CrawlNotice } from '@platform/auth';
import type { Clock } from '@platform/service-kit';
import { describeCrawls } from '../../mails/outbox/crawl-emails.js';
import type { Outbox } from '../../mails/outbox/outbox.js';
import type { Prisma } from '../../resources.js';
import { findAdministrators } from '../smtp/queries.js';

export interface CrawlNoticeContext {
  readonly prisma: Prisma;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

/** Stores a mail for each administrator of the organisation. @returns how many there are. */
export async function notifyOfCrawls(
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
