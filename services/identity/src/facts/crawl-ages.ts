import type { ReportedFact } from '@platform/events';
import type pg from 'pg';
import type { Prisma } from '../resources.js';

/*
 * How old is what connectors have crawled, kept from the facts that crawl reports anyway. Facts may come twice, and in another
 * order than that in which they happened: the newest completed crawl counts, the first failure after it, and of the schedule
 * what the newest fact says.
 */

export interface CrawlAge {
  readonly connector: string;
  readonly instance: string;
  /** When a crawl has last completed. */
  readonly completedAt: Date | null;
  /** When the first run has failed since then. */
  readonly failingSince: Date | null;
  /** When the next run is due, as far as the newest fact knows. */
  readonly nextRunAt: Date | null;
  readonly pausedAt: Date | null;
}

interface Change {
  readonly orgId: string;
  readonly connector: string;
  readonly instance: string;
  readonly at: string;
  readonly completedAt: string | null;
  readonly failingSince: string | null;
  readonly nextRunAt: string | null;
  readonly pausedAt: string | null;
}

const PREFIX = 'crawl_schedule.';

/** @returns undefined for a fact that says nothing about the age of documents. */
function toChange(fact: ReportedFact): Change | undefined {
  const { orgId, at } = fact;
  const nothing = { orgId, at, completedAt: null, failingSince: null, nextRunAt: null, pausedAt: null };
  if (fact.type === 'audit.entry') {
    const { action, detail } = fact.data;
    const { connector, instance } = detail;
    if (!action.startsWith(PREFIX) || !connector || !instance) return undefined;
    return { ...nothing, connector, instance, pausedAt: action === `${PREFIX}paused` ? at : null };
  }
  if (!fact.type.startsWith('crawl.run.') || !('nextRunAt' in fact.data)) return undefined;
  const { connector, instance, nextRunAt = null } = fact.data;
  return {
    ...nothing,
    connector,
    instance,
    nextRunAt,
    completedAt: fact.type === 'crawl.run.completed' ? at : null,
    failingSince: fact.type === 'crawl.run.failed' ? at : null,
  };
}

const record = `
  with change as (
    select c.* from jsonb_to_recordset($1::jsonb) as c ("orgId" uuid, connector text, instance text, at timestamptz,
        "completedAt" timestamptz, "failingSince" timestamptz, "nextRunAt" timestamptz, "pausedAt" timestamptz)
      join organisations o on o.id = c."orgId"
  ), completed as (
    select "orgId", connector, instance, max("completedAt") as at from change group by 1, 2, 3
  ), failed as (
    select c."orgId", c.connector, c.instance, min(c."failingSince") as at
    from change c join completed using ("orgId", connector, instance)
    where completed.at is null or c."failingSince" > completed.at group by 1, 2, 3
  ), newest as (
    select distinct on ("orgId", connector, instance) * from change order by "orgId", connector, instance, at desc
  )
  insert into crawl_ages as old (org_id, connector, instance, completed_at, failing_since, next_run_at, paused_at, reported_at)
  select "orgId", connector, instance, completed.at, failed.at, "nextRunAt", "pausedAt", newest.at
  from newest join completed using ("orgId", connector, instance) left join failed using ("orgId", connector, instance)
  order by "orgId", connector, instance
  on conflict (org_id, connector, instance) do update set
    completed_at = greatest(old.completed_at, excluded.completed_at),
    failing_since = (
      select min(since) from unnest(array[old.failing_since, excluded.failing_since]) as since
      where since > coalesce(greatest(old.completed_at, excluded.completed_at), '-infinity')),
    next_run_at = case when excluded.reported_at >= old.reported_at then excluded.next_run_at else old.next_run_at end,
    paused_at = case when excluded.reported_at >= old.reported_at then excluded.paused_at else old.paused_at end,
    reported_at = greatest(old.reported_at, excluded.reported_at)`;

/** Records what facts say about the age of documents. Repeating it changes nothing. */
export async function recordCrawlAges(db: Prisma, facts: readonly ReportedFact[]): Promise<void> {
  const changes = facts.map(toChange).filter((change) => change !== undefined);
  if (changes.length > 0) await db.$executeRawUnsafe(record, JSON.stringify(changes));
}

/** Finds the ages of the instances of connectors, in the order of their names. */
export async function findCrawlAges(
  pool: pg.Pool,
  orgId: string,
  connectors: readonly string[],
): Promise<CrawlAge[]> {
  const { rows } = await pool.query<CrawlAge>({
    name: 'crawl_ages',
    text: `select connector, instance, completed_at as "completedAt", failing_since as "failingSince",
        next_run_at as "nextRunAt", paused_at as "pausedAt"
      from crawl_ages where org_id = $1 and connector = any($2) order by connector, instance limit 100`,
    values: [orgId, [...connectors]],
  });
  return rows;
}
