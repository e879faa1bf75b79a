import type { Connector } from '@platform/events';
import type pg from 'pg';
import type { Transaction } from '../../transaction.js';
import { type Schedule, scheduleColumns } from '../schedules/queries.js';
import type { RunState, RunTrigger, Tick } from './run-state.js';

type Db = pg.Pool | Transaction;

export interface Run {
  readonly id: string;
  readonly scheduleId: string;
  readonly revision: number;
  readonly orgId: string;
  readonly connector: Connector;
  readonly trigger: RunTrigger;
  readonly jobId: string;
  readonly state: RunState;
  readonly scheduledFor: Date;
  readonly createdAt: Date;
  readonly attempts: number;
  readonly attemptsMax: number;
  readonly recoveries: number;
}

export const runColumns = (table: string) =>
  `${table}.id, ${table}.schedule_id as "scheduleId", ${table}.revision::float8 as revision, ${table}.org_id as "orgId",
   ${table}.connector, ${table}.trigger, ${table}.job_id as "jobId", ${table}.state,
   ${table}.scheduled_for as "scheduledFor", ${table}.created_at as "createdAt", ${table}.attempts,
   ${table}.attempts_max as "attemptsMax", ${table}.recoveries`;
const columns = runColumns('runs');
const inProgress = `state in ('waiting', 'active', 'retrying')`;

const tick = `
  select ${scheduleColumns('s')}, existing.id as "existingId", existing.state as "existingState",
    exists (select from runs other where other.org_id = s.org_id and other.connector = s.connector
            and other.${inProgress}) as "hasOtherInProgress"
  from schedules s left join runs existing on existing.schedule_id = s.id and existing.tick = $2
  where s.id = $1`;

/** Everything that {@link decideTick} asks about. */
export async function findTick(
  db: Db,
  given: {
    readonly scheduleId: string;
    readonly tick: string;
    readonly revision: number;
    readonly scheduledFor: number;
  },
): Promise<Tick> {
  const { revision, scheduledFor } = given;
  const { rows } = await db.query<
    Schedule & { existingId: string | null; existingState: RunState | null; hasOtherInProgress: boolean }
  >({ name: 'find_tick', text: tick, values: [given.scheduleId, given.tick] });
  const row = rows[0];
  return {
    schedule: row,
    existing:
      row && row.existingId !== null && row.existingState !== null
        ? { id: row.existingId, state: row.existingState }
        : undefined,
    hasOtherInProgress: row?.hasOtherInProgress ?? false,
    revision,
    scheduledFor,
  };
}

export interface NewRun {
  readonly id: string;
  readonly schedule: Schedule;
  readonly trigger: RunTrigger;
  readonly tick: string;
  readonly jobId: string;
  readonly state: 'waiting' | 'active' | 'skipped';
  readonly scheduledFor: Date;
  readonly at: Date;
  readonly leaseUntil: Date | null;
  readonly reason: string | null;
  /** When the schedule runs next; undefined leaves what is expected as it is. */
  readonly nextRunAt: Date | undefined;
}

/*
 * The run and what is expected next are one statement: a tick is either still to come or taken up.
 * The schedule's row is locked and read anew in it: a pause or removal that was answered meanwhile
 * is not followed by a run. What was asked for runs beside a finished one-off, too.
 */
const insert = `
  with schedule as (
    select id from schedules
    where id = $2 and revision = $3 and (state = 'active' or ($6::run_trigger = 'manual' and state = 'finished'))
    for no key update
  ), run as (
    insert into runs (id, schedule_id, revision, org_id, connector, trigger, tick, job_id, state, scheduled_for,
      created_at, started_at, finished_at, attempts, attempts_max, progress, reason, lease_until)
    select $1::uuid, schedule.id, $3::bigint, $4::uuid, $5::text, $6::run_trigger, $7::text, $8::text, $9::run_state,
      $10::timestamptz, $11::timestamptz,
      case when $9::run_state = 'active' then $11::timestamptz end,
      case when $9::run_state = 'skipped' then $11::timestamptz end,
      case when $9::run_state = 'active' then 1 else 0 end, $12::smallint,
      case when $9::run_state = 'active' then 10 else 0 end, $13::text, $14::timestamptz
    from schedule
    on conflict do nothing returning ${columns}
  ), expected as (
    update schedules set next_run_at = $15, overdue_since = null,
      -- An earlier time that was still expected is one that did not happen.
      missed_runs = missed_runs + (next_run_at < $10::timestamptz)::int
    where id = $2 and revision = $3 and state = 'active' and $15::timestamptz is not null
      and exists (select from run)
  )
  select * from run`;

/** @returns undefined when the tick was taken up, another run begun, or the schedule changed, a moment ago. */
export async function insertRun(db: Db, run: NewRun): Promise<Run | undefined> {
  const { schedule } = run;
  const { rows } = await db.query<Run>({
    name: 'insert_run',
    text: insert,
    values: [
      run.id, schedule.id, schedule.revision, schedule.orgId, schedule.connector, run.trigger, run.tick, run.jobId,
      run.state, run.scheduledFor, run.at, schedule.maxRetries + 1, run.reason, run.leaseUntil, run.nextRunAt ?? null,
    ],
  }); // prettier-ignore
  return rows[0];
}

const retake = `
  update runs set
    attempts = attempts + case when state = 'active' then 0 else 1 end,
    recoveries = recoveries + case when state = 'active' then 1 else 0 end,
    state = 'active', started_at = coalesce(started_at, $2), progress = 10, job_id = $3, lease_until = $4
  where id = $1 and ${inProgress} and (state <> 'active' or lease_until < $2) returning ${columns}`;

/**
 * Takes up a run that exists; undefined when it has ended meanwhile, or is in hands that renew its
 * lease: that a queue delivers a job again doesn't mean that its worker is gone.
 */
export async function retakeRun(
  db: Db,
  id: string,
  given: { readonly at: Date; readonly jobId: string; readonly leaseUntil: Date },
): Promise<Run | undefined> {
  const { rows } = await db.query<Run>({
    name: 'retake_run',
    text: retake,
    values: [id, given.at, given.jobId, given.leaseUntil],
  });
  return rows[0];
}

/** Until when the run is in somebody's hands; undefined when it isn't. */
export async function findLease(db: Db, id: string): Promise<Date | undefined> {
  const { rows } = await db.query<{ lease_until: Date }>({
    name: 'run_lease',
    text: `select lease_until from runs where id = $1 and state = 'active'`,
    values: [id],
  });
  return rows[0]?.lease_until;
}

/**
 * What a worker writes of a run counts only while the run is still in its hands: each time it is
 * taken up it has another pair of these numbers.
 */
export type Holding = Pick<Run, 'id' | 'attempts' | 'recoveries'>;
const isHeld = (first: number) => `state = 'active' and attempts = $${first} and recoveries = $${first + 1}`;

/** The schedule of a run, whatever became of it; undefined when it was removed. */
export async function findScheduleById(db: Db, id: string): Promise<Schedule | undefined> {
  const { rows } = await db.query<Schedule>({
    name: 'schedule_by_id',
    text: `select ${scheduleColumns('schedules')} from schedules where id = $1`,
    values: [id],
  });
  return rows[0];
}

export const lockScheduleRow = (tx: Transaction, id: string): Promise<unknown> =>
  tx.query({
    name: 'lock_schedule_row',
    text: 'select from schedules where id = $1 for no key update',
    values: [id],
  });

const end = (outcome: 'completed' | 'failed') => `
  with ended as (
    update runs set state = '${outcome}', finished_at = $2, reason = $3, event_id = $4, lease_until = null,
      progress = ${outcome === 'completed' ? '100' : 'progress'}
    where id = $1 and ${isHeld(5)} returning org_id
  )
  insert into org_statistics (org_id, ${outcome}) select org_id, 1 from ended
  on conflict (org_id) do update set ${outcome} = org_statistics.${outcome} + 1`;
const endStatements = { completed: end('completed'), failed: end('failed') };

export interface RunEnd {
  readonly run: Holding;
  readonly outcome: 'completed' | 'failed';
  readonly at: Date;
  readonly reason: string | null;
  readonly eventId: string | null;
}

/** @returns whether the run was in these hands until now. */
export async function endRun(db: Db, { run, outcome, at, reason, eventId }: RunEnd): Promise<boolean> {
  const { rowCount } = await db.query({
    name: `end_run_${outcome}`,
    text: endStatements[outcome],
    values: [run.id, at, reason, eventId, run.attempts, run.recoveries],
  });
  return rowCount === 1;
}

/** A one-off schedule has had its run. Not by one that was asked for, nor one of an earlier revision. */
export const finishOneOff = (db: Db, run: Pick<Run, 'scheduleId' | 'revision'>): Promise<unknown> =>
  db.query({
    name: 'finish_one_off',
    text: `update schedules set state = 'finished', next_run_at = null, overdue_since = null
           where id = $1 and revision = $2 and state = 'active'`,
    values: [run.scheduleId, run.revision],
  });

/** @returns whether the run was in these hands until now. */
export async function markRetrying(db: Db, run: Holding, reason: string, leaseUntil: Date): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'retry_run',
    text: `update runs set state = 'retrying', reason = $2, lease_until = $3 where id = $1 and ${isHeld(4)}`,
    values: [run.id, reason, leaseUntil, run.attempts, run.recoveries],
  });
  return rowCount === 1;
}

/** The attempt that was under way doesn't count. */
export const markHandedBack = (db: Db, run: Holding, leaseUntil: Date): Promise<unknown> =>
  db.query({
    name: 'hand_back_run',
    text: `update runs set state = 'waiting', attempts = attempts - 1, progress = 0, lease_until = $2
           where id = $1 and ${isHeld(3)}`,
    values: [run.id, leaseUntil, run.attempts, run.recoveries],
  });

export async function hasRunInProgress(db: Db, orgId: string, connector: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'has_run_in_progress',
    text: `select from runs where org_id = $1 and connector = $2 and ${inProgress}`,
    values: [orgId, connector],
  });
  return rowCount === 1;
}

/** Ends whatever run is in progress; from then on it can't complete. */
export async function abortRun(
  tx: Transaction,
  given: { readonly orgId: string; readonly connector: string; readonly reason: string; readonly at: Date },
): Promise<Pick<Run, 'id' | 'jobId'> | undefined> {
  const { rows } = await tx.query<Pick<Run, 'id' | 'jobId'>>({
    name: 'abort_run',
    text: `update runs set state = 'aborted', reason = $3, finished_at = $4, lease_until = null
           where org_id = $1 and connector = $2 and ${inProgress} returning id, job_id as "jobId"`,
    values: [given.orgId, given.connector, given.reason, given.at],
  });
  return rows[0];
}

/** Ends a run whose schedule is gone: nothing can tell what it was to do. @returns whether it was one. */
export async function abortOrphan(db: Db, id: string, at: Date): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'abort_orphan',
    text: `update runs set state = 'aborted', reason = 'The schedule was removed', finished_at = $2, lease_until = null
           where id = $1 and ${inProgress} and not exists (select from schedules where id = runs.schedule_id)`,
    values: [id, at],
  });
  return rowCount === 1;
}

/** Keeps runs from being taken for lost. @returns those that are still in these hands. */
export async function renewLeases(
  db: Db,
  runs: readonly Holding[],
  leaseUntil: Date,
): Promise<ReadonlySet<Holding>> {
  const { rows } = await db.query<{ number: number }>({
    name: 'renew_leases',
    text: `update runs set lease_until = $4
           from unnest($1::uuid[], $2::int[], $3::int[]) with ordinality as held (id, attempts, recoveries, number)
           where runs.id = held.id and state = 'active'
             and runs.attempts = held.attempts and runs.recoveries = held.recoveries
           returning held.number::int as number`,
    values: [
      runs.map(({ id }) => id),
      runs.map(({ attempts }) => attempts),
      runs.map(({ recoveries }) => recoveries),
      leaseUntil,
    ],
  });
  return new Set(rows.flatMap(({ number }) => runs[number - 1] ?? []));
}

export const saveProgress = (db: Db, id: string, progress: number): Promise<unknown> =>
  db.query({
    name: 'run_progress',
    text: `update runs set progress = greatest(progress, $2) where id = $1 and state = 'active'`,
    values: [id, progress],
  });

/** Deletes what is past the newest `kept`, in a bounded bite. */
export const pruneRuns = (db: Db, orgId: string, connector: string, kept: number): Promise<unknown> =>
  db.query({
    name: 'prune_runs',
    text: `delete from runs where id in (
             select id from runs where org_id = $1 and connector = $2 order by id desc offset $3 limit 100
           ) and not ${inProgress}`,
    values: [orgId, connector, kept],
  });
