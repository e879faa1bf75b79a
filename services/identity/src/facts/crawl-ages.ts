import type { ReportedFact } from '@platform/events';
import type pg from 'pg';
import type { SqlClient } from '../base/sql-client.js';

/*
 * How old is what connectors have crawled, kept from the facts that crawl reports anyway. Facts may come twice, and in another
 * order than that in which they happened: the newest completed crawl counts, the first failure after it, and what was last done
 * with the schedule. A pause that is over by itself is no act: a run for a later time says so.
 */

/** What the worker of a connector says of its source. */
export interface CrawlSource {
  readonly description: string;
  readonly documents?: number;
  readonly oldestAt?: string;
  readonly newestAt?: string;
}

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
  /** When the schedule was removed, and no other was saved since. */
  readonly removedAt: Date | null;
  /** When everything was last crawled from the beginning. */
  readonly fullAt: Date | null;
  readonly source: CrawlSource | null;
}

interface Change {
  readonly orgId: string;
  readonly connector: string;
  readonly instance: string;
  readonly at: string;
  readonly completedAt: string | null;
  readonly failingSince: string | null;
  readonly nextRunAt: string | null;
  readonly ranFor: string | null;
  readonly actedAt: string | null;
  readonly pausedAt: string | null;
  readonly removedAt: string | null;
  readonly fullAt: string | null;
  readonly source: CrawlSource | null;
}

const PREFIX = 'crawl_schedule.';

/** @returns undefined for a fact that says nothing about the age of documents. */
function toChange(fact: ReportedFact): Change | undefined {
  const { orgId, at } = fact;
  const nothing = {
    orgId,
    at,
    completedAt: null,
    failingSince: null,
    nextRunAt: null,
    ranFor: null,
    actedAt: null,
    pausedAt: null,
    removedAt: null,
    fullAt: null,
    source: null,
  };
  if (fact.type === 'audit.entry') {
    const { action, detail } = fact.data;
    const { connector, instance } = detail;
    if (!action.startsWith(PREFIX) || !connector || !instance) return undefined;
    return {
      ...nothing,
      connector,
      instance,
      actedAt: at,
      pausedAt: action === `${PREFIX}paused` ? at : null,
      removedAt: action === `${PREFIX}removed` ? at : null,
    };
  }
  if (!fact.type.startsWith('crawl.run.') || !('nextRunAt' in fact.data)) return undefined;
  const { connector, instance, nextRunAt = null, trigger, scheduledFor, worker, mode, source } = fact.data;
  return {
    ...nothing,
    connector,
    instance,
    nextRunAt,
    ranFor: trigger === 'schedule' ? scheduledFor : null,
    completedAt: fact.type === 'crawl.run.completed' ? at : null,
    // A run that only publishes its event has crawled nothing itself, whatever its mode.
    fullAt: fact.type === 'crawl.run.completed' && mode === 'full' && worker !== 'event' ? at : null,
    source: source ?? null,
    failingSince: fact.type === 'crawl.run.failed' ? at : null,
  };
}

const isNewerAct = `excluded.acted_at >= coalesce(old.acted_at, '-infinity')`;

const record = `
  with change as (
    select c.* from jsonb_to_recordset($1::jsonb) as c ("orgId" uuid, connector text, instance text, at timestamptz,
        "completedAt" timestamptz, "failingSince" timestamptz, "nextRunAt" timestamptz, "ranFor" timestamptz,
        "actedAt" timestamptz, "pausedAt" timestamptz, "removedAt" timestamptz, "fullAt" timestamptz, source jsonb)
      join organisations o on o.id = c."orgId"
  ), completed as (
    select "orgId", connector, instance, max("completedAt") as at, max("ranFor") as "ranFor",
      max("fullAt") as "fullAt"
    from change group by 1, 2, 3
  ), failed as (
    select c."orgId", c.connector, c.instance, min(c."failingSince") as at
    from change c join completed using ("orgId", connector, instance)
    where completed.at is null or c."failingSince" > completed.at group by 1, 2, 3
  ), newest as (
    select distinct on ("orgId", connector, instance) * from change order by "orgId", connector, instance, at desc
  ), act as (
    select distinct on ("orgId", connector, instance) * from change where "actedAt" is not null
    order by "orgId", connector, instance, at desc
  ), described as (
    select distinct on ("orgId", connector, instance) * from change where source is not null
    order by "orgId", connector, instance, at desc
  )
  insert into crawl_ages as old (org_id, connector, instance, completed_at, failing_since, next_run_at, ran_for, paused_at,
    removed_at, reported_at, acted_at, full_at, source, described_at)
  select "orgId", connector, instance, completed.at, failed.at, newest."nextRunAt", completed."ranFor", act."pausedAt",
    act."removedAt", newest.at, act."actedAt", completed."fullAt", described.source, described.at
  from newest join completed using ("orgId", connector, instance) left join failed using ("orgId", connector, instance)
    left join act using ("orgId", connector, instance) left join described using ("orgId", connector, instance)
  order by "orgId", connector, instance
  on conflict (org_id, connector, instance) do update set
    completed_at = greatest(old.completed_at, excluded.completed_at),
    failing_since = (
      select min(since) from unnest(array[old.failing_since, excluded.failing_since]) as since
      where since > coalesce(greatest(old.completed_at, excluded.completed_at), '-infinity')),
    next_run_at = case when excluded.reported_at >= old.reported_at then excluded.next_run_at else old.next_run_at end,
    ran_for = greatest(old.ran_for, excluded.ran_for),
    paused_at = case when ${isNewerAct} then excluded.paused_at else old.paused_at end,
    removed_at = case when ${isNewerAct} then excluded.removed_at else old.removed_at end,
    reported_at = greatest(old.reported_at, excluded.reported_at),
    acted_at = greatest(old.acted_at, excluded.acted_at),
    full_at = greatest(old.full_at, excluded.full_at),
    source = case when excluded.described_at >= coalesce(old.described_at, '-infinity') then excluded.source else old.source end,
    described_at = greatest(old.described_at, excluded.described_at)`;

/** Records what facts say about the age of documents. Repeating it changes nothing. */
export async function recordCrawlAges(db: SqlClient, facts: readonly ReportedFact[]): Promise<void> {
  const changes = facts.map(toChange).filter((change) => change !== undefined);
  if (changes.length > 0) await db.query(record, [JSON.stringify(changes)]);
}

const MAX_FOUND = 500;

/** Finds the ages of the instances of connectors, in the order of their names. @param connectors - undefined for all. */
export async function findCrawlAges(
  pool: pg.Pool,
  orgId: string,
  connectors?: readonly string[],
): Promise<CrawlAge[]> {
  const { rows } = await pool.query<CrawlAge>({
    name: 'crawl_ages',
    text: `select connector, instance, completed_at as "completedAt", failing_since as "failingSince",
        next_run_at as "nextRunAt", case when ran_for > paused_at then null else paused_at end as "pausedAt",
        removed_at as "removedAt", full_at as "fullAt", source
      from crawl_ages where org_id = $1 and ($2::text[] is null or connector = any($2))
      order by connector, instance limit ${MAX_FOUND}`,
    values: [orgId, connectors && [...connectors]],
  });
  return rows;
}
