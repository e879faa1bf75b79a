import type pg from 'pg';
import type { Schedule } from '../domain/schedule.js';
import { insertRunFacts } from './facts.js';
import {
  type DueRun,
  dueRunColumns,
  isLaneBusy,
  isSameInstance,
  REQUEUE_AFTER_MS,
  toMode,
  toParameters,
} from './runs.js';
import { scheduleColumns } from './schedules.js';
import type { Db, Transaction } from './transaction.js';

/* The statements of the dispatcher. Each statement handles a bounded number of rows, which no other replica has. */

/** Which rows are dispatched: `pull` are the rows of workers that need no queue. */
export type DispatchScope = 'all' | 'pull';

/**
 * Locks schedules that are due, oldest first, and returns them. A one-off schedule waits until the run before it has
 * ended, as it has no other time; it stays due until then.
 */
export async function lockDueSchedules(
  tx: Transaction,
  now: Date,
  limit: number,
  scope: DispatchScope,
): Promise<Schedule[]> {
  const { rows } = await tx.query<Schedule>({
    name: 'lock_due_schedules',
    text: `select ${scheduleColumns('s')} from schedules s
           where s.state = 'active' and s.next_run_at <= $1 and ($3 = 'all' or s.worker = 'pull') and (s.is_recurring or not exists (
             select from runs r where ${isSameInstance('r', 's')}
               and r.state in ('waiting', 'active', 'retrying')))
           order by s.next_run_at limit $2 for no key update skip locked`,
    values: [now, limit, scope],
  });
  return rows;
}

/** The run of one schedule that is due. */
export interface DueTick {
  readonly runId: string;
  readonly scheduleId: string;
  /** When the schedule runs next; null for a one-off schedule. */
  readonly nextRunAt: Date | null;
  /** Why the run is skipped, if it is. */
  readonly skipReason: string | null;
  readonly isMissed: boolean;
}

/*
 * Inserts the runs of locked schedules, and moves their next times. It is a separate statement after the locking one, so
 * it sees every run that was made before; none is made meanwhile, as that takes the lock of the schedule.
 */
const insert = `
  with tick as (
    select * from jsonb_to_recordset($1::jsonb) as t("runId" uuid, "scheduleId" uuid, "nextRunAt" timestamptz,
      "skipReason" text, "isMissed" boolean)
  ), given as (
    select t.*, s.id, s.revision, s.org_id, s.connector, s.instance, s.worker, s.endpoint_id, s.max_retries, s.is_recurring, s.next_run_at,
      ${toParameters('s')} as parameters, ${toMode('$2::timestamptz')} as mode,
      case when t."skipReason" is not null then t."skipReason"
        when exists (select from runs r where ${isSameInstance('r', 's')}
          and r.state in ('waiting', 'active', 'retrying')) then 'The previous run was still in progress' end as reason,
      -- A one-off schedule that waited for the run before it was not missed.
      t."isMissed" and (s.is_recurring or not exists (select from runs r where ${isSameInstance('r', 's')}
        and r.finished_at >= s.next_run_at)) as missed
    from tick t join schedules s on s.id = t."scheduleId"
      left join connector_states c on ${isSameInstance('c', 's')}
  ), made as (
    -- A one-off schedule keeps waiting for a run that began since it was read.
    select *, reason is null and worker <> 'pull' and (
        row_number() over (partition by org_id, connector, reason is null and worker <> 'pull' order by next_run_at, "runId") > 1
        or ${isLaneBusy({ orgId: 'given.org_id', connector: 'given.connector', id: '"runId"' })}) as is_held_back
    from given where is_recurring or reason is null or "skipReason" is not null
  ), moved as (
    update schedules s set next_run_at = made."nextRunAt", missed_runs = s.missed_runs + made.missed::int,
      state = case when not s.is_recurring and made.reason is not null then 'finished' else s.state end
    from made where s.id = made.id
  ), inserted as (
    insert into runs (id, schedule_id, revision, org_id, connector, instance, trigger, tick, worker, endpoint_id, mode, parameters, state,
      scheduled_for, created_at, finished_at, attempts_max, reason, due_at, is_queued)
    select "runId", id, revision, org_id, connector, instance, (case when missed then 'missed' else 'schedule' end)::run_trigger,
      revision || ':' || (extract(epoch from next_run_at) * 1000)::bigint, worker, endpoint_id, mode,
      case when reason is null then parameters end,
      (case when reason is null then 'waiting' else 'skipped' end)::run_state, next_run_at, $2,
      case when reason is not null then $2::timestamptz end, max_retries + 1, reason,
      case when reason is null and not is_held_back then $3::timestamptz end, reason is null and not is_held_back
    from made order by next_run_at, "runId"
    on conflict do nothing
    returning *
  ), facts as (${insertRunFacts(`(select * from inserted where state = 'skipped')`)}
  )
  select ${dueRunColumns('inserted')}, state, trigger from inserted`;

/** The run that was made of a tick. */
export type TickRun = DueRun & {
  readonly state: 'waiting' | 'skipped';
  readonly trigger: 'schedule' | 'missed';
};

/** Makes the runs of locked schedules, as if they were in the queue, unless they are held back. @returns all of them, the skipped ones included. */
export async function insertTicks(tx: Transaction, ticks: readonly DueTick[], now: Date): Promise<TickRun[]> {
  const { rows } = await tx.query<TickRun>({
    name: 'insert_ticks',
    text: insert,
    values: [JSON.stringify(ticks), now, new Date(now.getTime() + REQUEUE_AFTER_MS)],
  });
  return rows;
}

/** A run that was due, and the state in which it was found. */
export type FoundRun = DueRun & {
  /** `alive`: its worker has renewed its lease. `lost`: its lease has expired. `again`: it was in the queue before. */
  readonly was: 'due' | 'alive' | 'lost' | 'again';
};

/*
 * Postponed, retrying and handed-back runs that are due, and runs whose job or worker may be lost. The
 * attempt of a lost worker continues: it keeps its number, its start and its deadline. That of a worker that pulls has a
 * new deadline when another worker comes, unless the slice took longer than its own, which is no loss: the next claim fails
 * it.
 */
const takeDue = `
  with due as (
    select id, case when state <> 'active' then case when is_queued then 'again' else 'due' end
        when heartbeat_until > $1 then 'alive' else 'lost' end as was,
      worker = 'pull' and coalesce(heartbeat_until, due_at) >= deadline_at as is_late, org_id, connector, worker
    from runs where state in ('waiting', 'active', 'retrying') and due_at <= $1 and ($4 = 'all' or worker = 'pull')
    order by due_at limit $2 for no key update skip locked
  ), placed as (
    select *, was = 'due' and worker <> 'pull' and (
        row_number() over (partition by org_id, connector, was = 'due' and worker <> 'pull' order by id) > 1
        or ${isLaneBusy({ orgId: 'due.org_id', connector: 'due.connector', id: 'due.id' })}) as is_held_back
    from due
  )
  update runs r set
    due_at = case when is_held_back then null when was = 'alive' then heartbeat_until
      else $1::timestamptz + greatest(make_interval(secs => $3 / 1000.0), $1::timestamptz - r.created_at) end,
    is_queued = was <> 'alive' and not is_held_back,
    state = case when was = 'lost' then 'waiting' else state end,
    recoveries = recoveries + (was = 'lost' and is_late is not true)::int,
    deadline_at = case when was = 'lost' and r.worker = 'pull' and is_late is not true then null else deadline_at end,
    attempts = attempts - (was = 'lost')::int,
    unavailable_since = case when was = 'lost' then null else unavailable_since end
  from placed where r.id = placed.id
  returning ${dueRunColumns('r')}, placed.was`;

/*
 * Looks at the oldest run of each organisation and connector that holds some back: two reads of the index for each.
 */
const freeHeldBack = `
  with recursive oldest as (
    (select org_id, connector, id from runs where due_at is null and state in ('waiting', 'retrying')
      order by org_id, connector, id limit 1)
    union all
    select next.* from oldest, lateral (
      select org_id, connector, id from runs where due_at is null and state in ('waiting', 'retrying')
        and (org_id, connector) > (oldest.org_id, oldest.connector)
      order by org_id, connector, id limit 1) next
  ), free as (
    select id from runs where due_at is null and state in ('waiting', 'retrying') and id in (
      select oldest.id from oldest
      where not ${isLaneBusy({ orgId: 'oldest.org_id', connector: 'oldest.connector', id: 'oldest.id' })})
    order by id for no key update skip locked
  ), freed as (
    update runs set due_at = $1 from free where runs.id = free.id
  )
  select from oldest`;

/**
 * Makes the next runs due that were held back because the queue had another run of the organisation's instances of
 * the connector. @returns whether runs were held back.
 */
export async function freeHeldBackRuns(db: pg.Pool, now: Date): Promise<boolean> {
  const { rowCount } = await db.query({ name: 'free_held_back_runs', text: freeHeldBack, values: [now] });
  return (rowCount ?? 0) > 0;
}

/** Returns runs that are due, oldest first, and marks them as enqueued, unless they are held back. */
export async function takeDueRuns(
  db: pg.Pool,
  now: Date,
  limit: number,
  scope: DispatchScope,
): Promise<FoundRun[]> {
  const { rows } = await db.query<FoundRun>({
    name: 'take_due_runs',
    text: takeDue,
    values: [now, limit, REQUEUE_AFTER_MS, scope],
  });
  // The ids of runs grow with the time at which they were made.
  return rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** Notes that runs could not be added to the queue, so that they are due at once. */
export const markUnqueued = (db: Db, runs: readonly DueRun[], at: Date): Promise<unknown> =>
  db.query({
    name: 'mark_unqueued',
    text: `update runs set is_queued = false, due_at = $3
           from (select runs.id from unnest($1::uuid[], $2::int[]) as given (id, claim_count)
                 join runs on runs.id = given.id and runs.claim_count = given.claim_count and state in ('waiting', 'retrying')
                 order by runs.id for no key update of runs) as held
           where runs.id = held.id`,
    values: [runs.map(({ id }) => id), runs.map(({ claimCount }) => claimCount), at],
  });

/**
 * Makes runs due whose jobs the queue has lost with all of its data. @returns how many; fewer than `limit` when there are
 * no more.
 */
export async function requeueAll(db: pg.Pool, now: Date, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'requeue_all',
    text: `update runs set is_queued = false, due_at = created_at where id in (
             select id from runs where state in ('waiting', 'active', 'retrying') and due_at > $1 and is_queued
             order by due_at limit $2 for no key update skip locked)`,
    values: [now, limit],
  });
  return rowCount ?? 0;
}

/** Returns when the next schedule, run or ring becomes due, or a pause ends, after `now`, epoch ms; undefined when none does. */
export async function findNextDue(db: pg.Pool, now: Date): Promise<number | undefined> {
  const { rows } = await db.query<{ at: Date | null }>({
    name: 'next_due',
    text: `select least(
             (select next_run_at from schedules where state = 'active' and next_run_at > $1 order by 1 limit 1),
             (select paused_until from schedules where paused_until > $1 order by 1 limit 1),
             (select ring_due_at from schedules where ring_due_at > $1 order by 1 limit 1),
             (select due_at from runs where state in ('waiting', 'active', 'retrying') and due_at > $1 order by 1 limit 1)
           ) as at`,
    values: [now],
  });
  return rows[0]?.at?.getTime();
}

/** The most waiting runs that are read. */
const MAX_WAITING = 1_000;

/** The runs that are due and have not started, and the connectors that keep failing. */
export interface Backlog {
  /** For how many seconds the longest waiting run has been due; 0 when none waits. */
  readonly oldestAgeSeconds: number;
  /** The number of runs of schedules that were due before `overdueBefore`, counted up to a limit. */
  readonly overdue: number;
  /** The number of connectors' instances whose last runs failed, at least `failingAfter` in a row. */
  readonly failing: number;
}

/** Reads a bounded part of what is due. */
export async function readBacklog(
  db: pg.Pool,
  given: { readonly now: Date; readonly overdueBefore: Date; readonly failingAfter: number },
): Promise<Backlog> {
  const { rows } = await db.query<Backlog>({
    name: 'backlog',
    text: `with due as (
             (select s.next_run_at as at from schedules s
               where s.state = 'active' and s.next_run_at <= $1 and not exists (
                 select from runs r where ${isSameInstance('r', 's')}
                   and r.state in ('waiting', 'active', 'retrying'))
               order by s.next_run_at limit $3)
             union all
             (select least(r.scheduled_for, $1) from runs r
               where r.state in ('waiting', 'active', 'retrying') and r.state = 'waiting' and r.worker <> 'pull'
               order by r.due_at limit $3))
           select coalesce(extract(epoch from $1::timestamptz - min(at)), 0)::float8 as "oldestAgeSeconds",
             (count(*) filter (where at < $2))::int as overdue,
             (select count(*)::int from connector_states where consecutive_failures >= $4) as failing
           from due`,
    values: [given.now, given.overdueBefore, MAX_WAITING, given.failingAfter],
  });
  return rows[0] ?? { oldestAgeSeconds: 0, overdue: 0, failing: 0 };
}
