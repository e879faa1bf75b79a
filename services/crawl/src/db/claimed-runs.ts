import { insertOutboxEventsOf, type RunEvent, toOutboxRows } from '@platform/events';
import type { Counters } from '../domain/counters.js';
import { sumCounters } from './claim-runs.js';
import { insertCrawlFacts, insertRunFacts, noticedAfterFailure } from './facts.js';
import { isSameInstance, type Run } from './runs.js';
import type { Db } from './transaction.js';

/* A worker's writes to a run that it has claimed. */

/**
 * Identifies one claim of a run. A worker's write takes effect only while its claim is valid, and each claim has
 * another number, so a write whose response was lost can be repeated.
 */
export type RunClaim = Pick<Run, 'id' | 'claimCount'>;
const isHeld = (number: number) => `state = 'active' and claim_count = $${number}`;

/*
 * Runs are completed many at a time: at a thousand runs a second, a commit for each would be the most expensive thing that
 * the service does. They are found by their ids and without a join, which for a plan of an empty table would read a whole
 * index for each batch, and locked in the order of their ids, as by a pause and a removal of many. Their state is compared as
 * text for the same reason: the indexes of runs in progress would be read whole.
 */

/** Returns the newest claim of each run, by id, and of equal ones the first: no other one can be valid. */
function toNewest<C extends RunClaim>(claims: readonly C[]): ReadonlyMap<string, C> {
  const newest = new Map<string, C>();
  for (const one of claims)
    if ((newest.get(one.id)?.claimCount ?? -1) < one.claimCount) newest.set(one.id, one);
  return newest;
}

/**
 * Orders the cancellation of the remote tasks of runs that end, in the same statement.
 *
 * @param runs - has the columns id, org_id, connector, endpoint_id, request_id and the location of the task, which may be null.
 */
export const cancelTasksOf = (runs: string, now: string) => `
  insert into tasks_to_cancel (run_id, location, org_id, connector, endpoint_id, request_id, created_at, due_at)
  select id, task_location, org_id, connector, endpoint_id, coalesce(request_id, id::text), ${now}, ${now}
  from ${runs} where task_location is not null on conflict do nothing`;

/*
 * The end of runs, the counts and the events are one statement, so all of them are stored or none, without an open
 * transaction. Rows of other tables are written in the order of their keys, so that replicas cannot wait for each other.
 */
const countEnded = (outcome: 'completed' | 'failed') => `
  counted as (
    insert into org_statistics (org_id, connector, ${outcome})
    select org_id, connector, count(*) from ended group by org_id, connector order by org_id, connector
    on conflict (org_id, connector) do update set ${outcome} = org_statistics.${outcome} + excluded.${outcome}
  )`;

/** The columns that the end of a slice sets. @param counters - the counters of the slice, if it reported them. */
export const addSliceCounters = (counters: string) => `slices = slices + 1, finished_lease_hash = lease_hash,
  counters = ${sumCounters('counters', `coalesce(${counters}::jsonb, slice_counters)`)}, slice_counters = '{}'`;

/** The worker of the run whose state is being written. */
const itsWorker = `(select worker from ended where ${isSameInstance('ended', 'excluded')})`;

/* A full crawl of an endpoint, which keeps no checkpoint, replaces a full crawl that workers have begun. */
const isOvertaken = `excluded.last_full_at is not null and c.full_started_at is not null and ${itsWorker} <> 'pull'`;

/*
 * A full crawl is complete: what a consumer has not seen since it started is gone. A run that only publishes its event has
 * crawled nothing, whatever its mode. An instance has one run at a time, so no state is written twice.
 */
const completion = `
  with held as (
    select id, $2::jsonb -> id::text as given from runs
    where id = any($1::uuid[]) and claim_count = ($2::jsonb -> id::text ->> 'claimCount')::int and state::text = 'active'
    order by id for no key update
  ), ended as (
    update runs set state = 'completed', finished_at = $3, due_at = null, parameters = null, deadline_at = null,
      progress = 100, reason = null, task_location = null, event_id = ($2::jsonb -> id::text ->> 'eventId')::uuid,
      ${addSliceCounters(`($2::jsonb -> id::text -> 'counters')`)}
    where id = any(array(select id from held))
    returning *, ($2::jsonb -> id::text ->> 'isCrawled')::boolean as is_crawled
  ), ${countEnded('completed')}, state as (
    insert into connector_states as c (org_id, connector, instance, last_completed_at, last_full_at)
    select org_id, connector, instance, $3, case when mode = 'full' and is_crawled then started_at end
    from ended order by org_id, connector, instance
    on conflict (org_id, connector, instance) do update set
      last_completed_at = excluded.last_completed_at, consecutive_failures = 0, last_failure = null, noticed_at = null,
      last_full_at = case when excluded.last_full_at is null then c.last_full_at
        when ${itsWorker} = 'pull' then coalesce(c.full_started_at, excluded.last_full_at)
        else excluded.last_full_at end,
      full_started_at = case when excluded.last_full_at is null then c.full_started_at end,
      checkpoint = case when not (${isOvertaken}) then c.checkpoint end,
      version = c.version + (${isOvertaken})::int
  ), recovered as (${insertCrawlFacts(
    'crawl.recovered',
    `select c.org_id, c.connector, c.instance, 0 as failures, null::text as reason
     from ended e cross join lateral (
       select * from connector_states s where ${isSameInstance('s', 'e')} and s.noticed_at is not null offset 0) c`,
    '$3',
  )}
  ), facts as (${insertRunFacts('ended')}
  ), published as (
    ${insertOutboxEventsOf('ended', '$4')}
  )
  select id from ended`;

/** The report of a worker with the end of its slice. */
export interface SliceResult {
  /** The counters of the slice; undefined: as its last heartbeat said. */
  readonly counters?: Partial<Counters> | undefined;
}

export interface CompletedRun extends RunClaim, Omit<RunEvent, 'runId'>, SliceResult {
  /** Whether something was crawled. False: only the event asks for it. */
  readonly isCrawled: boolean;
}

/** Completes runs and stores their events. @returns for each whether its claim was valid. */
export async function completeRuns(db: Db, runs: readonly CompletedRun[], at: Date): Promise<boolean[]> {
  const newest = toNewest(runs);
  const ending = [...newest.values()];
  const given = ending.map(({ id, claimCount, event, isCrawled, counters }) => [
    id,
    { claimCount, eventId: event.eventId, isCrawled, counters },
  ]);
  const { rows } = await db.query<{ id: string }>({
    name: 'complete_runs',
    text: completion,
    values: [
      [...newest.keys()],
      JSON.stringify(Object.fromEntries(given)),
      at,
      toOutboxRows(ending.map(({ id, event, traceparent }) => ({ runId: id, event, traceparent }))),
    ],
  });
  const ended = new Set(rows.map(({ id }) => id));
  return runs.map((run) => newest.get(run.id) === run && ended.has(run.id));
}

const stateOfFailed = `
  insert into connector_states as c (org_id, connector, instance, consecutive_failures, last_failure, noticed_at)
  select org_id, connector, instance, 1, $4, case when $6::int <= 1 then $3::timestamptz end from ended
  on conflict (org_id, connector, instance) do update set
    consecutive_failures = c.consecutive_failures + 1, last_failure = excluded.last_failure,
    noticed_at = ${noticedAfterFailure('$6::int', '$3')}
  returning org_id, connector, instance, consecutive_failures, noticed_at`;

const failure = `
  with ended as (
    update runs set state = 'failed', finished_at = $3, due_at = null, parameters = null, deadline_at = null,
      reason = $4, task_location = coalesce($5, task_location), finished_lease_hash = lease_hash
    where id = $1 and ${isHeld(2)} returning *
  ), facts as (${insertRunFacts('ended')}), ${countEnded('failed')}, state as (${stateOfFailed}), noticed as (${insertCrawlFacts(
    'crawl.failing',
    'select org_id, connector, instance, consecutive_failures as failures, $4::text as reason from state where noticed_at = $3',
    '$3',
  )}), cancelled as (${cancelTasksOf('ended', '$3')})
  select from ended`;

/** How an attempt ended without success. */
export interface AttemptFailure {
  readonly reason: string;
  readonly at: Date;
  /** Where the task can be cancelled, if the endpoint did not say that it has ended. */
  readonly location: string | undefined;
}

/**
 * Fails the run: it is not tried again. The location is kept only where the task is to be cancelled.
 *
 * @param noticeAfter - after so many failed runs in a row, administrators are mailed.
 * @returns whether the claim was valid.
 */
export async function failRun(
  db: Db,
  run: RunClaim,
  { at, reason, location }: AttemptFailure,
  noticeAfter: number,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'fail_run',
    text: failure,
    values: [run.id, run.claimCount, at, reason, location ?? null, noticeAfter],
  });
  return rowCount === 1;
}

const MAX_ENDED_ATTEMPTS = 200;

/** The ended attempts and the one ending now. @param reason - why it failed; null when it has done its slice. */
export const withAttempt = (at: string, reason: string) => `
  case when jsonb_array_length(ended_attempts) < ${MAX_ENDED_ATTEMPTS} then ended_attempts else ended_attempts - 0 end
    || jsonb_build_object('slice', slices + 1, 'number', attempts, 'reason', ${reason},
      'startedAt', (extract(epoch from coalesce(attempt_started_at, started_at)) * 1000)::bigint,
      'endedAt', (extract(epoch from ${at}::timestamptz) * 1000)::bigint)`;

/**
 * Ends an attempt that will be followed by another one, and stores its outcome. The write can be repeated: only the
 * first one finds the attempt active.
 *
 * @returns whether the claim was valid, or had been released by the same worker.
 */
export async function markRetrying(
  db: Db,
  run: RunClaim,
  { at, reason, location }: AttemptFailure,
  retryAt: Date,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'retry_run',
    text: `with ended as (
             update runs set state = 'retrying', reason = $2, due_at = $3, unavailable_since = null,
               task_location = null, deadline_at = null, finished_lease_hash = lease_hash, recoveries = 0,
               ended_attempts = case when state = 'active' then ${withAttempt('$5', '$2::text')} else ended_attempts end
             where id = $1 and state in ('active', 'retrying') and claim_count = $4
             returning id, org_id, connector, endpoint_id, request_id, $6::text as task_location
           ), cancelled as (${cancelTasksOf('ended', '$5::timestamptz')})
           select from ended`,
    values: [run.id, reason, retryAt, run.claimCount, at, location ?? null],
  });
  return rowCount === 1;
}

/**
 * Postpones a run until its endpoint is available; the same attempt then continues and is not counted twice.
 *
 * @returns whether the claim was valid, or had been released by the same worker.
 */
export async function markPostponed(
  db: Db,
  run: RunClaim,
  given: { readonly reason: string; readonly since: Date; readonly until: Date },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'postpone_run',
    text: `update runs set state = 'retrying', attempts = attempts - (state = 'active')::int, reason = $3,
             unavailable_since = $4, due_at = $5, deadline_at = null
           where id = $1 and state in ('active', 'retrying') and claim_count = $2`,
    values: [run.id, run.claimCount, given.reason, given.since, given.until],
  });
  return rowCount === 1;
}

/**
 * Returns a run to the queue. Its attempt doesn't count, and continues with what is left of its time; that of a worker that
 * pulls starts again, as the next one may come at any time. No worker calls its endpoint until the next claim, which starts
 * with the full grace period.
 */
export async function markHandedBack(db: Db, run: RunClaim, at: Date): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'hand_back_run',
    text: `update runs set state = 'waiting', attempts = attempts - 1, progress = case when slices > 0 then progress else 0 end,
             due_at = $2, unavailable_since = null, finished_lease_hash = lease_hash,
             deadline_at = case when worker <> 'pull' then deadline_at end,
             reason = case when unavailable_since is null then reason end
           where id = $1 and ${isHeld(3)}`,
    values: [run.id, at, run.claimCount],
  });
  return rowCount === 1;
}

/** Ends a run that was claimed too late for a schedule that skips missed runs. @returns whether the claim was valid. */
export async function skipRun(db: Db, run: RunClaim, at: Date, reason: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'skip_run',
    text: `with skipped as (
             update runs set state = 'skipped', reason = $4, finished_at = $3, due_at = null, parameters = null, attempts = 0,
               started_at = null, attempt_started_at = null, deadline_at = null, progress = 0
             where id = $1 and ${isHeld(2)} returning *
           ), facts as (${insertRunFacts('skipped')})
           select from skipped`,
    values: [run.id, run.claimCount, at, reason],
  });
  return rowCount === 1;
}

/**
 * Renews the leases of runs, without a write to any index. Rows are locked in the order of their ids, as by a pause and a
 * removal of many.
 *
 * @returns the runs whose claims are still valid.
 */
export async function renewLeases(
  db: Db,
  runs: readonly RunClaim[],
  leaseUntil: Date,
): Promise<ReadonlySet<RunClaim>> {
  const { rows } = await db.query<{ number: number }>({
    name: 'renew_leases',
    // The claim's own time is indexed, and stays as it is unless the clock was set back.
    text: `update runs set heartbeat_until = $3, due_at = least(due_at, $3)
           from (select runs.id, number from unnest($1::uuid[], $2::int[]) with ordinality as held (id, claim_count, number)
               join runs on runs.id = held.id and state = 'active' and runs.claim_count = held.claim_count
             order by runs.id for no key update of runs) as held
           where runs.id = held.id
           returning held.number::int as number`,
    values: [runs.map(({ id }) => id), runs.map(({ claimCount }) => claimCount), leaseUntil],
  });
  return new Set(rows.flatMap(({ number }) => runs[number - 1] ?? []));
}

export const saveProgress = (db: Db, run: RunClaim, progress: number): Promise<unknown> =>
  db.query({
    name: 'run_progress',
    text: `update runs set progress = greatest(progress, $2) where id = $1 and ${isHeld(3)}`,
    values: [run.id, progress, run.claimCount],
  });

/** Stores where the task of a run can be cancelled, and has it cancelled if the run was aborted meanwhile. */
export const saveTaskLocation = (db: Db, run: RunClaim, location: string, at: Date): Promise<unknown> =>
  db.query({
    name: 'run_task_location',
    text: `with aborted as (
             select id, org_id, connector, endpoint_id, request_id, $3::text as task_location from runs
             where id = $1 and claim_count = $2 and state = 'aborted'
           ), saved as (
             update runs set task_location = $3 where id = $1 and ${isHeld(2)}
           ) ${cancelTasksOf('aborted', '$4::timestamptz')}`,
    values: [run.id, run.claimCount, location, at],
  });

/**
 * Stores why the endpoint of an active run is unavailable, and since when; null when it is available. The time for which
 * it was unavailable is not part of the attempt's time.
 */
export const saveEndpointState = (
  db: Db,
  run: RunClaim,
  at: Date,
  wait: { readonly reason: string; readonly since: Date } | null,
): Promise<unknown> =>
  db.query({
    name: 'endpoint_state',
    text: `update runs set reason = $3, unavailable_since = $4,
             deadline_at = case when $4::timestamptz is null and unavailable_since is not null
               then deadline_at + greatest($5::timestamptz - unavailable_since, '0') else deadline_at end
           where id = $1 and ${isHeld(2)}`,
    values: [run.id, run.claimCount, wait?.reason ?? null, wait?.since ?? null, at],
  });
