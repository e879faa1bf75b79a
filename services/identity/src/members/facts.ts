import { type Fact, Facts, FACTS_PATH, FACTS_SCOPE, requireService } from '@platform/auth';
import { type App, type Clock, DAY_MS } from '@platform/service-kit';
import { Type } from 'typebox';
import { insertReportedEntries } from '../audit/queries.js';
import { bearer, errorResponses } from '../base/openapi.js';
import { type NoticedCrawl, toCrawlDetail } from '../mails/outbox/crawl-notices.js';
import type { Outbox } from '../mails/outbox/outbox.js';
import type { Prisma, Transaction } from '../resources.js';
import { findAdministrators } from './organisation/administration.js';

interface FactsContext {
  readonly prisma: Prisma;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

/** After this time, a change of a crawl is not worth a mail. */
const NOTICE_MAX_AGE_MS = 3 * DAY_MS;
/** A mail about a crawl waits so long for others: crawls of one night fail one after the other. */
const NOTICE_HOLD_MS = 5 * 60_000;

/** Stores a mail for each administrator of the organisation. */
async function notifyOfCrawls(
  { outbox }: FactsContext,
  tx: Transaction,
  {
    orgId,
    crawls,
    at,
  }: { readonly orgId: string; readonly crawls: readonly NoticedCrawl[]; readonly at: Date },
  requestId: string,
): Promise<void> {
  for (const { id: userId } of await findAdministrators(tx, orgId)) {
    const mail = { kind: 'crawl_notice', to: { userId }, detail: toCrawlDetail(crawls), requestId } as const;
    await outbox.add(tx, { ...mail, mergeKey: 'crawls', holdMs: NOTICE_HOLD_MS }, at);
  }
}

/** Stores what another service has reported. A fact that was reported before adds no second entry to the audit. */
async function storeFacts(ctx: FactsContext, facts: readonly Fact[], requestId: string): Promise<void> {
  const now = ctx.clock();
  const entries = facts.filter((fact) => fact.type === 'audit.entry');
  const crawls = facts
    .filter((fact) => fact.type !== 'audit.entry')
    .filter(({ at }) => now - Date.parse(at) <= NOTICE_MAX_AGE_MS);
  await ctx.prisma.$transaction(async (tx) => {
    if (entries.length > 0) await insertReportedEntries(tx, entries);
    for (const orgId of new Set(crawls.map((fact) => fact.orgId))) {
      const noticed = crawls.filter((fact) => fact.orgId === orgId).map(({ data }) => data);
      await notifyOfCrawls(ctx, tx, { orgId, crawls: noticed, at: new Date(now) }, requestId);
    }
  });
}

/**
 * Registers the route by which the other services report what happened there. It is stored when the route answers, so they can
 * forget it. It requires a service credential with `facts:write`.
 */
export function registerFacts(app: App, ctx: FactsContext): void {
  app.post(
    FACTS_PATH,
    {
      onRequest: [app.authenticate, requireService(FACTS_SCOPE)],
      schema: {
        operationId: 'reportFacts',
        tags: ['Services'],
        summary:
          'Report what happened in another service: entries of the audit, and crawls that keep failing',
        security: bearer,
        body: Facts,
        response: { 200: Type.Object({ stored: Type.Integer() }), ...errorResponses(400, 401, 403) },
      },
    },
    async (request) => {
      const { facts } = request.body;
      await storeFacts(ctx, facts, request.id);
      return { stored: facts.length };
    },
  );
}
