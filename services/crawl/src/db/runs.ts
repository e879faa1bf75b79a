import type { Connector } from '@platform/events';
import type { RunState, RunTrigger } from '../domain/run-state.js';
import type { Schedule } from '../domain/schedule.js';
import type { Db } from './transaction.js';

/* Runs as every part of the service sees them: created, in progress, aborted, pruned. */

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
  readonly maxAttempts: number;
  readonly recoveries: number;
  /** How often it has been claimed. */
  readonly claimCount: number;
  /** Since when the attempt under way has waited for an endpoint that is away. */
  readonly unavailableSince: Date | null;
  /** Of the request that asked for it. */
  readonly requestId: string | null;
}

export const runColumns = (table: string) =>
  `${table}.id, ${table}.schedule_id as "scheduleId", ${table}.revision::float8 as revision, ${table}.org_id as "orgId",
   ${table}.connector, ${table}.trigger, ${table}.job_id as "jobId", ${table}.state,
   ${table}.scheduled_for as "scheduledFor", ${table}.created_at as "createdAt", ${table}.attempts,
   ${table}.attempts_max as "maxAttempts", ${table}.recoveries, ${table}.taken_up as "claimCount",
   ${table}.away_since as "unavailableSince", ${table}.request_id as "requestId"`;
const columns = runColumns('runs');

/** What a run asks of its schedule. */
export type RunParameters = Pick<
  Schedule,
  'userId' | 'config' | 'priority' | 'metadata' | 'timeoutMs' | 'scheduledAt'
>;

export const inProgress = `state in ('waiting', 'active', 'retrying')`;

/**
 * Until when a run is its worker's: a claim sets `lease_until`, which an index finds, and heartbeats renew
 * `heartbeat_until`, which none may.
 */
export const leaseEnd = (table: string) => `greatest(${table}.lease_until, ${table}.heartbeat_until)`;

export interface NewRun {
  readonly id: string;
  /** Of whatever revision it is, when none is given. */
  readonly schedule: Pick<Schedule, 'id'> & Partial<Pick<Schedule, 'revision'>>;
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
  /** Of the request that asks for the run. */
  readonly requestId?: string;
}

/*
 * The run and what is expected next are one statement: a tick is either expected or claimed.
 * The schedule's row is locked and read anew in it: a pause or removal that was answered meanwhile
 * is not followed by a run. What was asked for runs beside a finished one-off, too. A tick before
 * the one that is expected was overtaken: the run that did so was of its time, too.
 */
const insert = `
  with schedule as (
    select * from schedules
    where id = $2 and ($3::bigint is null or revision = $3) and (state = 'active' or ($4::run_trigger = 'manual' and state = 'finished'))
      and ($4::run_trigger <> 'schedule' or next_run_at <= $8::timestamptz)
    for no key update
  ), run as (
    insert into runs (id, schedule_id, revision, org_id, connector, trigger, tick, job_id, state, scheduled_for,
      created_at, started_at, finished_at, attempts, taken_up, attempts_max, progress, reason, lease_until, request_id)
    select $1::uuid, id, revision, org_id, connector, $4::run_trigger, $5::text, $6::text, $7::run_state,
      $8::timestamptz, $9::timestamptz,
      case when $7::run_state = 'active' then $9::timestamptz end,
      case when $7::run_state = 'skipped' then $9::timestamptz end,
      case when $7::run_state = 'active' then 1 else 0 end,
      case when $7::run_state = 'active' then 1 else 0 end, max_retries + 1,
      case when $7::run_state = 'active' then 10 else 0 end, $10::text, $11::timestamptz, $13::text
    from schedule
    on conflict do nothing returning ${columns}
  ), expected as (
    update schedules set next_run_at = $12, overdue_since = null,
      -- An earlier time that was still expected is one that did not happen.
      missed_runs = missed_runs + (next_run_at < $8::timestamptz)::int
    where id = $2 and revision = $3 and state = 'active' and $12::timestamptz is not null
      and exists (select from run)
  )
  select run.*, schedule.user_id as "userId", schedule.config, schedule.priority, schedule.metadata,
    schedule.timeout_ms as "timeoutMs",
    schedule.scheduled_at as "scheduledAt" from run, schedule`;

/** @returns undefined when the tick was claimed or overtaken, another run has begun, or the schedule was changed. */
export async function insertRun(db: Db, run: NewRun): Promise<(Run & RunParameters) | undefined> {
  const { schedule } = run;
  const { rows } = await db.query<Run & RunParameters>({
    name: 'insert_run',
    text: insert,
    values: [
      run.id, schedule.id, schedule.revision ?? null, run.trigger, run.tick, run.jobId, run.state, run.scheduledFor, run.at,
      run.reason, run.leaseUntil, run.nextRunAt ?? null, run.requestId ?? null,
    ],
  }); // prettier-ignore
  return rows[0];
}

export async function hasRunInProgress(db: Db, orgId: string, connector: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'has_run_in_progress',
    text: `select from runs where org_id = $1 and connector = $2 and ${inProgress}`,
    values: [orgId, connector],
  });
  return rowCount === 1;
}

/** Ends a run whose schedule is gone: nothing can tell what it was to do. @returns whether it was one. */
export async function abortOrphan(db: Db, id: string, at: Date): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'abort_orphan',
    text: `update runs set state = 'aborted', reason = 'The schedule was removed', finished_at = $2, lease_until = null
           where id = $1 and ${inProgress} and not exists (
             select from schedules where id = runs.schedule_id and state <> 'removed')`,
    values: [id, at],
  });
  return rowCount === 1;
}

const pastNewest = (filter: string) =>
  `(select id from runs where org_id = $1 and connector = $2 and ${filter} order by id desc offset $3 limit 100)`;

/**
 * Deletes, a bounded number at a time, what is older than the newest `kept` runs and the newest `kept` ticks that were
 * skipped. The two are counted apart: a tick that is skipped each minute must not push a failure out.
 */
export const pruneRuns = (db: Db, orgId: string, connector: string, kept: number): Promise<unknown> =>
  db.query({
    name: 'prune_runs',
    text: `delete from runs where id in (
             ${pastNewest(`state <> 'skipped'`)} union all ${pastNewest(`state = 'skipped'`)}
           ) and not ${inProgress}`,
    values: [orgId, connector, kept],
  });

/**
 * Deletes a requested run whose job the queue may not have, in whatever state it is.
 *
 * @returns whether it is gone; false when a worker has claimed it, so that the queue did have its job.
 */
export async function withdrawRun(db: Db, id: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'withdraw_run',
    text: 'delete from runs where id = $1 and taken_up = 0',
    values: [id],
  });
  return rowCount === 1;
}
