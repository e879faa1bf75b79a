import type { ReportedFact } from '@platform/events';
import { type Clock, DAY_MS } from '@platform/service-kit';
import { insertFacts, type NewFact } from '../audit/facts.sql.js';
import { insertReportedEntries } from '../audit/record.sql.js';
import { type NoticedCrawl, toCrawlDetail } from '../mails/outbox/crawl-notices.js';
import { recordInvitationOutcomes } from '../mails/outbox/invitation-outcomes.js';
import type { Outbox } from '../mails/outbox/outbox.js';
import { findAdministrators } from '../members/organisation/administration.js';
import type { Prisma, Transaction } from '../prisma.js';
import { recordCrawlAges } from './crawl-ages.js';

type Entry = Extract<ReportedFact, { type: 'audit.entry' }>;
type Notice = Extract<ReportedFact, { type: 'crawl.failing' | 'crawl.recovered' }>;

const isEntry = (fact: ReportedFact): fact is Entry => fact.type === 'audit.entry';
const isNotice = (fact: ReportedFact): fact is Notice =>
  fact.type === 'crawl.failing' || fact.type === 'crawl.recovered';
const isOther = (fact: ReportedFact): fact is Exclude<ReportedFact, Entry | Notice> =>
  !isEntry(fact) && !isNotice(fact);

export interface ReportContext {
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
  { outbox }: ReportContext,
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

/** What follows from what comes after it: a run that has failed, then the crawl that keeps failing. */
const toRank = (fact: ReportedFact): number => (isEntry(fact) ? 0 : isNotice(fact) ? 2 : 1);

/** Returns the facts in the order of their times, as stretches of facts that are stored together. */
function toStretches(facts: readonly ReportedFact[]): ReportedFact[][] {
  const stretches: ReportedFact[][] = [];
  for (const fact of facts.toSorted(
    (one, other) => Date.parse(one.at) - Date.parse(other.at) || toRank(one) - toRank(other),
  )) {
    const last = stretches.at(-1);
    if (last?.[0] && toRank(last[0]) === toRank(fact)) last.push(fact);
    else stretches.push([fact]);
  }
  return stretches;
}

/**
 * Stores what another service has reported, in the order in which it happened; what was reported before changes nothing. Each
 * organisation has a transaction, so that one with many administrators keeps no other waiting.
 */
export async function storeReports(
  ctx: ReportContext,
  facts: readonly ReportedFact[],
  requestId: string,
): Promise<void> {
  for (const stretch of toStretches(facts)) {
    const entries = stretch.filter(isEntry);
    const others = stretch.filter(isOther);
    if (others.length > 0) await insertFacts(ctx.prisma, others.map(omitReference));
    if (entries.length > 0) await ctx.prisma.$transaction((tx) => insertReportedEntries(tx, entries));
    await storeNotices(ctx, stretch.filter(isNotice), requestId);
  }
  await recordInvitationOutcomes(ctx.prisma, facts.filter(isOther));
  await recordCrawlAges(ctx.prisma, facts);
}

async function storeNotices(
  ctx: ReportContext,
  notices: readonly Notice[],
  requestId: string,
): Promise<void> {
  const now = ctx.clock();
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
