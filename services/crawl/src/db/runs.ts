import type { Connector } from '@platform/events';
import type { RunState, RunTrigger } from '../domain/run-state.js';
import type { Schedule } from '../domain/schedule.js';
import type { Db } from './transaction.js';

/* The statements about runs that all parts of the service share: create, look up, abort, prune. */

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
  /** The number of times that the run has been claimed. */
  readonly claimCount: number;
  /** Since when the current attempt has waited for an unavailable endpoint. */
  readonly unavailableSince: Date | null;
  /** The id of the request that asked for the run. */
  readonly requestId: string | null;
}

export const runColumns = (table: string) =>
  `${table}.id, ${table}.schedule_id as "scheduleId", ${table}.revision::float8 as revision, ${table}.org_id as "orgId",
   ${table}.connector, ${table}.trigger, ${table}.job_id as "jobId", ${table}.state,
   ${table}.scheduled_for as "scheduledFor", ${table}.created_at as "createdAt", ${table}.attempts,
   ${table}.attempts_max as "maxAttempts", ${table}.recoveries, ${table}.claim_count as "claimCount",
   ${table}.unavailable_since as "unavailableSince", ${table}.request_id as "requestId"`;
const columns = runColumns('runs');

/** The columns of the schedule that a run needs. */
export type RunParameters = Pick<
  Schedule,
  'userId' | 'config' | 'priority' | 'metadata' | 'timeoutMs' | 'scheduledAt'
>;

export const inProgress = `state in ('waiting', 'active', 'retrying')`;

/**
 * When the lease of a run expires: a claim sets `lease_until`, which is indexed, and heartbeats renew
 * `heartbeat_until`, which must not be.
 */
export const leaseEnd = (table: string) => `greatest(${table}.lease_until, ${table}.heartbeat_until)`;

export interface NewRun {
  readonly id: string;
  /** Any revision matches when none is given. */
  readonly schedule: Pick<Schedule, 'id'> & Partial<Pick<Schedule, 'revision'>>;
  readonly trigger: RunTrigger;
  readonly tick: string;
  readonly jobId: string;
  readonly state: 'waiting' | 'active' | 'skipped';
  readonly scheduledFor: Date;
  readonly at: Date;
  readonly leaseUntil: Date | null;
  readonly reason: string | null;
  /** The time at which the schedule runs next; undefined leaves the expected time as it is. */
  readonly nextRunAt: Date | undefined;
  /** The id of the request that asks for the run. */
  readonly requestId?: string;
}

/*
 * One statement inserts the run and sets the next expected time, so a tick is either expected or claimed. It locks
 * the schedule's row and reads it again, so that no run follows a pause or a removal that has been answered. A
 * requested run may also follow a finished one-off schedule. A tick earlier than the expected one has been overtaken:
 * the run that overtook it covered its time, too.
 */
const insert = `
  with schedule as (
    select * from schedules
    where id = $2 and ($3::bigint is null or revision = $3) and (state = 'active' or ($4::run_trigger = 'manual' and state = 'finished'))
      and ($4::run_trigger <> 'schedule' or next_run_at <= $8::timestamptz)
    for no key update
  ), run as (
    insert into runs (id, schedule_id, revision, org_id, connector, trigger, tick, job_id, state, scheduled_for,
      created_at, started_at, finished_at, attempts, claim_count, attempts_max, progress, reason, lease_until, request_id)
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
      -- An earlier time that was still expected was missed.
      missed_runs = missed_runs + (next_run_at < $8::timestamptz)::int
    where id = $2 and revision = $3 and state = 'active' and $12::timestamptz is not null
      and exists (select from run)
  )
  select run.*, schedule.user_id as "userId", schedule.config, schedule.priority, schedule.metadata,
    schedule.timeout_ms as "timeoutMs",
    schedule.scheduled_at as "scheduledAt" from run, schedule`;

/**
 * @returns undefined when the tick was claimed or overtaken, another run is in progress, or the schedule was changed.
 */
export async function insertRun(db: Db, run: NewRun): Promise<(Run & RunParameters) | undefined> {
  const { schedule } = run;
  // prettier-ignore
  const { rows } = await db.query<Run & RunParameters>({
    name: 'insert_run',
    text: insert,
    values: [
      run.id, schedule.id, schedule.revision ?? null, run.trigger, run.tick, run.jobId, run.state, run.scheduledFor, run.at,
      run.reason, run.leaseUntil, run.nextRunAt ?? null, run.requestId ?? null,
    ],
  });
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

/**
 * Aborts a run whose schedule has been removed, as nothing says any longer what it was to do. @returns whether it
 * did.
 */
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
 * Deletes, a bounded number at a time, everything older than the newest `kept` runs and the newest `kept` skipped
 * ticks. The two are counted separately: a tick that is skipped every minute must not push out a failure.
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
 * Deletes a requested run whose job may not be in the queue, whatever its state.
 *
 * @returns false when a worker has claimed it, so that its job was in the queue.
 */
export async function withdrawRun(db: Db, id: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'withdraw_run',
    text: 'delete from runs where id = $1 and claim_count = 0',
    values: [id],
  });
  return rowCount === 1;
}
