import { connectors } from '@platform/events';
import type pg from 'pg';
import type { Schedule } from '../domain/schedule.js';
import { insertRunFacts } from './facts.js';
import { isSameInstance, type NewRun, newRunColumns, toMode, toParameters, toPlaceInLine } from './runs.js';
import { scheduleColumns } from './schedules.js';
import type { Transaction } from './transaction.js';

/* The statements of the dispatcher. Each statement handles a bounded number of rows, which no other replica has. */

/**
 * Locks schedules that are due, oldest first, and returns them. A one-off schedule waits until the run before it has
 * ended, as it has no other time; it stays due until then.
 */
export async function lockDueSchedules(tx: Transaction, now: Date, limit: number): Promise<Schedule[]> {
  const { rows } = await tx.query<Schedule>({
    name: 'lock_due_schedules',
    text: `select ${scheduleColumns('s')} from schedules s
           where s.state = 'active' and s.next_run_at <= $1 and (s.is_recurring or not exists (
             select from runs r where ${isSameInstance('r', 's')}
               and r.state in ('waiting', 'active', 'retrying')))
           order by s.next_run_at limit $2 for no key update skip locked`,
    values: [now, limit],
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
    select *, row_number() over (partition by org_id, connector, reason is null and worker <> 'pull'
      order by next_run_at, "runId") - 1 as nth
    from given where is_recurring or reason is null or "skipReason" is not null
  ), moved as (
    update schedules s set next_run_at = made."nextRunAt", missed_runs = s.missed_runs + made.missed::int,
      state = case when not s.is_recurring and made.reason is not null then 'finished' else s.state end
    from made where s.id = made.id
  ), inserted as (
    insert into runs (id, schedule_id, revision, org_id, connector, instance, trigger, tick, worker, endpoint_id, mode, parameters, state,
      scheduled_for, created_at, finished_at, attempts_max, reason, due_at)
    select "runId", id, revision, org_id, connector, instance, (case when missed then 'missed' else 'schedule' end)::run_trigger,
      revision || ':' || (extract(epoch from next_run_at) * 1000)::bigint, worker, endpoint_id, mode,
      case when reason is null then parameters end,
      (case when reason is null then 'waiting' else 'skipped' end)::run_state, next_run_at, $2,
      case when reason is not null then $2::timestamptz end, max_retries + 1, reason,
      case when reason is null then ${toPlaceInLine('made', '$2::timestamptz', 'nth')} end
    from made order by next_run_at, "runId"
    on conflict do nothing
    returning *
  ), facts as (${insertRunFacts(`(select * from inserted where state = 'skipped')`)}
  )
  select ${newRunColumns('inserted')}, state, trigger from inserted`;

/** The run that was made of a tick. */
export type TickRun = NewRun & {
  readonly state: 'waiting' | 'skipped';
  readonly trigger: 'schedule' | 'missed';
};

/** Makes the runs of locked schedules. @returns all of them, the skipped ones included. */
export async function insertTicks(tx: Transaction, ticks: readonly DueTick[], now: Date): Promise<TickRun[]> {
  const { rows } = await tx.query<TickRun>({
    name: 'insert_ticks',
    text: insert,
    values: [JSON.stringify(ticks), now],
  });
  return rows;
}

/*
 * Looks at the runs in progress whose claims have expired, unless heartbeats have renewed them. A run that has lost its worker
 * waits again, and its attempt continues: it keeps its number, its start and its deadline. That of a worker that pulls has
 * a new deadline when another worker comes, unless the slice took longer than its own, which is no loss: the next claim
 * fails it.
 */
const recover = `
  with expired as (
    select id, (heartbeat_until > $1) is true as is_renewed,
      (worker = 'pull' and coalesce(heartbeat_until, due_at) >= deadline_at) is true as is_late
    from runs where state = 'active' and due_at <= $1 order by due_at limit $2 for no key update skip locked
  ), renewed as (
    update runs r set due_at = r.heartbeat_until from expired where r.id = expired.id and is_renewed
  ), lost as (
    update runs r set state = 'waiting', due_at = $1, attempts = attempts - 1, unavailable_since = null,
      recoveries = recoveries + (not is_late)::int,
      deadline_at = case when r.worker <> 'pull' or is_late then deadline_at end
    from expired where r.id = expired.id and not is_renewed
    returning r.*
  )
  select ${newRunColumns('lost')} from lost`;

/** Lets runs wait again whose worker has vanished. @returns them, at most `limit`. */
export async function recoverLostRuns(db: pg.Pool, now: Date, limit: number): Promise<NewRun[]> {
  const { rows } = await db.query<NewRun>({ name: 'recover_lost_runs', text: recover, values: [now, limit] });
  return rows;
}

/** Returns the runs whose next attempt became due after `since`, at most `limit`. */
export async function findDueRetries(db: pg.Pool, since: Date, now: Date, limit: number): Promise<NewRun[]> {
  const { rows } = await db.query<NewRun>({
    name: 'due_retries',
    text: `select ${newRunColumns('r')} from runs r
           where r.state = 'retrying' and r.due_at > $1 and r.due_at <= $2 order by r.due_at limit $3`,
    values: [since, now, limit],
  });
  return rows;
}

/** Returns when the next schedule, ring or attempt becomes due, or a pause ends, after `now`, epoch ms; undefined when none does. */
export async function findNextDue(db: pg.Pool, now: Date): Promise<number | undefined> {
  const { rows } = await db.query<{ at: Date | null }>({
    name: 'next_due',
    text: `select least(
             (select next_run_at from schedules where state = 'active' and next_run_at > $1 order by 1 limit 1),
             (select paused_until from schedules where paused_until > $1 order by 1 limit 1),
             (select ring_due_at from schedules where ring_due_at > $1 order by 1 limit 1),
             (select due_at from runs where state = 'retrying' and due_at > $1 order by 1 limit 1)
           ) as at`,
    values: [now],
  });
  return rows[0]?.at?.getTime();
}

/** The most schedules, and waiting runs of each connector, that are read. */
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
             (select least(r.scheduled_for, $1) from unnest($5::text[]) as of (connector), lateral (
               select scheduled_for from runs w where w.connector = of.connector and w.state in ('waiting', 'retrying')
                 and w.state = 'waiting' and w.worker <> 'pull'
               order by w.due_at limit $3) r))
           select coalesce(extract(epoch from $1::timestamptz - min(at)), 0)::float8 as "oldestAgeSeconds",
             (count(*) filter (where at < $2))::int as overdue,
             (select count(*)::int from connector_states where consecutive_failures >= $4) as failing
           from due`,
    values: [given.now, given.overdueBefore, MAX_WAITING, given.failingAfter, connectors],
  });
  return rows[0] ?? { oldestAgeSeconds: 0, overdue: 0, failing: 0 };
}
