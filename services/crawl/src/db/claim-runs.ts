import type { Connector } from '@platform/events';
import { inTransaction } from '@platform/service-kit';
import type pg from 'pg';
import { type Counters, counterNames } from '../domain/counters.js';
import { ENDPOINT_HOLDER, hashLease } from '../domain/lease.js';
import { type Run, runColumns } from './runs.js';
import type { Db } from './transaction.js';

/*
 * The claim of runs: by the workers of the service, and by workers that pull. Both are the same statement, which differs in
 * how it selects the runs that are claimed.
 */

/** A run that was claimed, with what it goes on from. */
export interface ClaimedRow extends Run {
  readonly counters: Partial<Counters>;
  /** Proves the claim to the API. Only its hash is stored. */
  readonly lease: string;
  /** JSON, as its worker sent it. */
  readonly checkpoint: string | null;
  /** When the full crawl started that this run continues, or the last completed one. */
  readonly fullStartedAt: Date | null;
}

/** Adds counters of at most the largest safe integer each; a sum that would be larger stays there. */
export const sumCounters = (one: string, other: string) =>
  `jsonb_build_object(${counterNames
    .map(
      (name) =>
        `'${name}', least(${Number.MAX_SAFE_INTEGER},
           coalesce((${one} ->> '${name}')::bigint, 0) + coalesce((${other} ->> '${name}')::bigint, 0))`,
    )
    .join(', ')})`;

/**
 * When the full crawl started that the run `r` is part of, or the last one before it, by the state `c`. Without slices, as
 * of endpoints, each full run is a new full crawl.
 */
export const fullStartedAt = (r: string, begun = 'null::timestamptz') => `
  case when ${r}.mode = 'full' and ${r}.worker <> 'pull' then ${r}.started_at
    else coalesce(${begun}, c.full_started_at, c.last_full_at) end as "fullStartedAt"`;

/*
 * Claims the runs that `due` selects and locks, each with the lease at its position.
 *
 * The attempt of a lost worker, a handed-back run and a run that waited for its endpoint continue: the first two keep their
 * deadline, unless workers pull. What the slice of a lost worker had counted is kept. An endpoint counts an attempt from its
 * beginning, also when another worker continues it, and starts from nothing in the next one.
 *
 * A full crawl that nobody has begun starts from nothing; an incomplete one of an earlier run is continued, unless a full
 * crawl was asked for. Only workers that pull have slices, and so a state to begin.
 *
 * Runs are found by their ids and without a join, which for a plan of an empty table would read a whole index for each batch.
 *
 * $1 when they are claimed, $2 when the leases expire, $3 the hashes of the leases, $4 the name of a worker that pulls.
 */
const claimStatement = (due: string) => `
  with due as (${due}
  ), claimed as (
    update runs set state = 'active', attempts = attempts + 1, claim_count = claim_count + 1,
      lease_hash = ($3::bytea[])[array_position(array(select id from due), id)],
      claimed_by = $4::text, claimed_at = case when worker = 'pull' then $1::timestamptz end,
      started_at = coalesce(started_at, $1),
      attempt_started_at = case when deadline_at is null and unavailable_since is null then $1
        else coalesce(attempt_started_at, $1) end,
      deadline_at = coalesce(deadline_at, $1 + make_interval(secs => (parameters ->> 'timeoutMs')::float8 / 1000)),
      progress = case when slices > 0 then progress else 10 end, due_at = $2::timestamptz, heartbeat_until = null,
      counters = case when slice_counters = '{}' or worker <> 'pull' then counters
        else ${sumCounters('counters', 'slice_counters')} end,
      slice_counters = case when worker <> 'pull' and coalesce(deadline_at, unavailable_since) is not null then slice_counters
        else '{}' end,
      is_checkpoint_new = false
    where id = any(array(select id from due))
    returning ${runColumns('runs')}, counters, started_at, array_position(array(select id from due), id) as number,
      claim_count = 1 and (parameters ->> 'isRestart')::boolean as is_restart
  ), begun as (
    insert into connector_states as c (org_id, connector, instance, full_started_at, version)
    select "orgId", connector, instance, $1, coalesce(is_restart, false)::int from claimed
    where mode = 'full' and worker = 'pull'
    on conflict (org_id, connector, instance) do update set
      checkpoint = case when c.full_started_at is null or excluded.version = 1 then null else c.checkpoint end,
      version = c.version + 1,
      full_started_at = case when excluded.version = 1 then excluded.full_started_at
        else coalesce(c.full_started_at, excluded.full_started_at) end
    returning c.org_id, c.connector, c.instance, c.checkpoint, c.full_started_at
  )
  select claimed.*, ${fullStartedAt('claimed', 'begun.full_started_at')},
    coalesce(begun.checkpoint, case when claimed.mode = 'incremental' then c.checkpoint end) as checkpoint
  from claimed
    left join begun on begun.org_id = claimed."orgId" and begun.connector = claimed.connector
      and begun.instance = claimed.instance
    left join lateral (
      select * from connector_states s where s.org_id = claimed."orgId" and s.connector = claimed.connector
        and s.instance = claimed.instance offset 0
    ) c on true`;

type Row = Omit<ClaimedRow, 'lease'> & {
  /** The position of its lease, from 1. */
  readonly number: number;
};

async function claim(
  db: Db,
  statement: { readonly name: string; readonly text: string },
  given: {
    readonly at: Date;
    readonly leaseUntil: Date;
    readonly leases: readonly string[];
    readonly holder: string;
    readonly worker: string | null;
  },
  values: readonly unknown[],
): Promise<ClaimedRow[]> {
  const { at, leaseUntil, leases, holder, worker } = given;
  const hashes = leases.map((lease) => hashLease(lease, holder));
  const { rows } = await db.query<Row>({ ...statement, values: [at, leaseUntil, hashes, worker, ...values] });
  return rows.map((row) => ({ ...row, lease: leases[row.number - 1] ?? '' }));
}

/* Of workers that pull -------------------------------------------------------------------------- */

/*
 * Runs are claimed in the order of their creation; a run that has had a slice comes behind runs that were created
 * before the slice began.
 */
const ofOrganisation = {
  name: 'claim_work',
  text: claimStatement(`
    select id from runs
    where org_id = $5 and connector = any($6::text[]) and instance = any(coalesce($7::text[], array[instance]))
      and worker = 'pull' and (state = 'waiting' or (state = 'retrying' and due_at <= $1))
    order by coalesce(claimed_at, created_at) limit 1 for no key update skip locked`),
};

/** Claims a run of the organisation that is due; undefined when none is. */
export async function claimWork(
  db: Db,
  given: {
    readonly orgId: string;
    readonly connectors: readonly Connector[];
    /** Undefined for all instances of the connectors. */
    readonly instances: readonly string[] | undefined;
    readonly worker: string;
    readonly at: Date;
    readonly leaseUntil: Date;
    readonly lease: string;
    /** The credential that claims: see `lease.ts`. */
    readonly holder: string;
  },
): Promise<ClaimedRow | undefined> {
  const { orgId, connectors, instances, lease, ...more } = given;
  const values = [orgId, connectors, instances ?? null];
  const [run] = await claim(db, ofOrganisation, { ...more, leases: [lease] }, values);
  return run;
}

/* Of the service's workers ---------------------------------------------------------------------- */

/** Whether a run that waits, or whose back-off is over, can be claimed. */
const isClaimable = (run: string, at: string) => `(${run}.state = 'waiting' or ${run}.due_at <= ${at})`;

/**
 * Selects the runs of a connector that its free places are for, in their order in line. Of an organisation, one run of the
 * connector is active at a time, so that one with many instances leaves places to others. `offset 0` has them looked up
 * one by one, by the organisation: as a join, a plan of an empty table reads all runs in progress of the connector for each.
 *
 * @param asked - how many are asked for. @param limit - how many may be active, over all replicas (CRAWL-24).
 */
const nextRuns = (connector: string, asked: string, limit: string, at: string) => `
  select r.id from runs r
  where r.connector = ${connector} and r.state in ('waiting', 'retrying') and r.worker <> 'pull' and ${isClaimable('r', at)}
    and not exists (select from runs other
      where other.org_id = r.org_id and other.connector = r.connector and other.state in ('waiting', 'active', 'retrying')
        and other.worker <> 'pull' and other.id <> r.id and (other.state = 'active'
          or ${isClaimable('other', at)} and (other.due_at, other.id) < (r.due_at, r.id)) offset 0)
  order by r.due_at, r.id limit least(${asked}, greatest(0, ${limit} - (
    select count(*) from runs p where p.connector = ${connector} and p.state = 'active' and p.worker <> 'pull')))`;

const ofConnectors = {
  name: 'claim_runs',
  text: claimStatement(`
    select next.id from unnest($5::text[], $6::int[]) as asked (connector, count),
      lateral (${nextRuns('asked.connector', 'asked.count', '$7::int', '$1')} for no key update of r skip locked) next`),
};

/**
 * Claims the next runs of connectors, each with the lease that an endpoint may report with.
 *
 * The claims of a connector are made one after the other, over all replicas: each counts the places that the ones before
 * have taken. Connectors are locked in the order of their names.
 *
 * @param asked - for each run that is asked for, its connector and its lease. @param limit - the most active runs of a connector.
 * @returns for each a run; undefined when there is none, or no free place.
 */
export async function claimRuns(
  pool: pg.Pool,
  asked: readonly { readonly connector: Connector; readonly lease: string }[],
  given: { readonly at: Date; readonly leaseUntil: Date; readonly limit: number },
): Promise<(ClaimedRow | undefined)[]> {
  const counts = new Map<Connector, number>();
  for (const { connector } of asked) counts.set(connector, (counts.get(connector) ?? 0) + 1);
  const named = [...counts.keys()].toSorted();
  const { at, leaseUntil, limit } = given;
  const leases = asked.map(({ lease }) => lease);
  const claimed = await inTransaction(pool, async (tx) => {
    await tx.query({
      name: 'lock_places',
      text: `select pg_advisory_xact_lock(hashtextextended('crawl places of ' || name, 0)) from unnest($1::text[]) as name`,
      values: [named],
    });
    // A statement of its own, which sees what was claimed while this one waited.
    return claim(tx, ofConnectors, { at, leaseUntil, leases, holder: ENDPOINT_HOLDER, worker: null }, [
      named,
      named.map((connector) => counts.get(connector)),
      limit,
    ]);
  });
  return asked.map(({ connector }) => {
    const index = claimed.findIndex((run) => run.connector === connector);
    return index < 0 ? undefined : claimed.splice(index, 1)[0];
  });
}

/** Counts the runs that the service's workers could claim now, by connector, up to the number of free places. */
export async function countClaimable(
  db: pg.Pool,
  given: { readonly connectors: readonly Connector[]; readonly limit: number; readonly at: Date },
): Promise<ReadonlyMap<Connector, number>> {
  const { rows } = await db.query<{ connector: Connector; count: number }>({
    name: 'count_claimable',
    text: `select asked.connector, count(*)::int as count from unnest($1::text[]) as asked (connector),
             lateral (${nextRuns('asked.connector', '$2::int', '$2::int', '$3::timestamptz')}) next
           group by asked.connector`,
    values: [given.connectors, given.limit, given.at],
  });
  return new Map(rows.map(({ connector, count }) => [connector, count]));
}
