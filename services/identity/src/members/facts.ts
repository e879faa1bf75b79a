import {
  assertService,
  CRAWL_FACTS_SCOPE,
  FACTS_PATH,
  getPrincipal,
  MAIL_FACTS_SCOPE,
  MAX_FACTS,
} from '@platform/auth';
import { ReportedFact } from '@platform/events';
import { type App, type Clock, DAY_MS, errorResponses } from '@platform/service-kit';
import type { onRequestHookHandler } from 'fastify';
import { Type } from 'typebox';
import { insertFacts, type NewFact } from '../audit/facts/queries.js';
import { insertReportedEntries } from '../audit/queries.js';
import { type NoticedCrawl, toCrawlDetail } from '../mails/outbox/crawl-notices.js';
import { recordInvitationOutcomes } from '../mails/outbox/invitation-outcomes.js';
import type { Outbox } from '../mails/outbox/outbox.js';
import type { Prisma, Transaction } from '../resources.js';
import { findAdministrators } from './organisation/administration.js';

type Entry = Extract<ReportedFact, { type: 'audit.entry' }>;
type Notice = Extract<ReportedFact, { type: 'crawl.failing' | 'crawl.recovered' }>;

const isEntry = (fact: ReportedFact): fact is Entry => fact.type === 'audit.entry';
const isNotice = (fact: ReportedFact): fact is Notice =>
  fact.type === 'crawl.failing' || fact.type === 'crawl.recovered';
const isOther = (fact: ReportedFact): fact is Exclude<ReportedFact, Entry | Notice> =>
  !isEntry(fact) && !isNotice(fact);

interface FactsContext {
  readonly prisma: Prisma;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

/** The largest fact has a reason of 2,000 characters, or a dozen values of 300. */
const MAX_FACT_BYTES = 10_000;
/** After this time, a change of a crawl is not worth a mail. */
const NOTICE_MAX_AGE_MS = 3 * DAY_MS;
/** A mail about a crawl waits so long for others: crawls of one night fail one after the other. */
const NOTICE_HOLD_MS = 5 * 60_000;

const Facts = Type.Object(
  { facts: Type.Array(ReportedFact, { minItems: 1, maxItems: MAX_FACTS }) },
  { additionalProperties: false },
);

const toScope = ({ type }: ReportedFact): string =>
  type.startsWith('mail.') ? MAIL_FACTS_SCOPE : CRAWL_FACTS_SCOPE;

/** Refuses everybody else before the body is read. */
const requireReporter: onRequestHookHandler = (request, _reply, done) => {
  const principal = getPrincipal(request);
  const isOfMail = principal.grantedScopes.has(MAIL_FACTS_SCOPE);
  assertService(principal, isOfMail ? MAIL_FACTS_SCOPE : CRAWL_FACTS_SCOPE);
  done();
};

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

/** The id of a row of the outbox says nothing to anybody else. */
function omitReference(fact: NewFact): NewFact {
  const { reference: _omitted, ...data } = fact.data;
  return { ...fact, data };
}

/**
 * Stores what another service has reported; what was reported before changes nothing. Each organisation has a transaction, so
 * that one with many administrators keeps no other waiting.
 */
async function storeFacts(
  ctx: FactsContext,
  facts: readonly ReportedFact[],
  requestId: string,
): Promise<void> {
  const now = ctx.clock();
  const entries = facts.filter(isEntry);
  const notices = facts.filter(isNotice);
  const others = facts.filter(isOther);
  if (others.length > 0) await insertFacts(ctx.prisma, others.map(omitReference));
  await recordInvitationOutcomes(ctx.prisma, others);
  if (entries.length > 0) await ctx.prisma.$transaction((tx) => insertReportedEntries(tx, entries));
  for (const orgId of new Set(notices.map((fact) => fact.orgId))) {
    const ofOne = notices.filter((fact) => fact.orgId === orgId);
    await ctx.prisma.$transaction(async (tx) => {
      const inserted = await insertFacts(tx, ofOne);
      const noticed = ofOne
        .filter(({ id, at }) => inserted.has(id) && now - Date.parse(at) <= NOTICE_MAX_AGE_MS)
        .map(({ at, data }) => ({ ...data, at }));
      if (noticed.length > 0)
        await notifyOfCrawls(ctx, tx, { orgId, crawls: noticed, at: new Date(now) }, requestId);
    });
  }
}

/**
 * Registers the route by which the other services report what happened there. It is stored when the route answers, so they can
 * forget it. It requires a service credential with `facts:crawl` or `facts:mail`, each for the facts of that service.
 */
export function registerFacts(app: App, ctx: FactsContext): void {
  app.post(
    FACTS_PATH,
    {
      onRequest: [app.authenticate, requireReporter],
      bodyLimit: MAX_FACTS * MAX_FACT_BYTES,
      schema: {
        operationId: 'reportFacts',
        tags: ['Services'],
        summary:
          'Report what happened in another service: entries of the audit, ends of runs and mails, crawls that keep failing',
        body: Facts,
        response: { 200: Type.Object({ stored: Type.Integer() }), ...errorResponses(400, 401, 403) },
      },
    },
    async (request) => {
      const { facts } = request.body;
      for (const scope of new Set(facts.map(toScope))) assertService(getPrincipal(request), scope);
      await storeFacts(ctx, facts, request.id);
      return { stored: facts.length };
    },
  );
}
