import type { Act } from '../domain/act.js';
import type { InstanceKey } from '../domain/instance-key.js';
import type { RunMode, RunState, RunTrigger } from '../domain/run-state.js';
import type { RunWorker } from '../domain/run-worker.js';
import type { Schedule } from '../domain/schedule.js';
import { auditedInstance, insertAudit, toAudit } from './facts.js';
import type { Db } from './transaction.js';

/* The statements about runs that all parts of the service share: create, look up, prune. */

/** The parameters of a run, as its schedule had them when the run was made. */
export type RunParameters = Pick<Schedule, 'userId' | 'config' | 'priority' | 'metadata' | 'timeoutMs'> & {
  /** When the schedule was created or replaced, epoch ms. */
  readonly scheduledAt: number;
  /** Null when the instance has no name. */
  readonly displayName: string | null;
  /** Whether a full crawl was asked for, which starts from nothing. */
  readonly isRestart?: boolean;
};

export interface Run extends InstanceKey {
  readonly id: string;
  readonly scheduleId: string;
  readonly revision: number;
  readonly trigger: RunTrigger;
  readonly worker: RunWorker;
  /** The endpoint that crawls; null unless `worker` is `endpoint`. */
  readonly endpointId: string | null;
  readonly mode: RunMode;
  readonly state: RunState;
  readonly parameters: RunParameters;
  readonly scheduledFor: Date;
  readonly createdAt: Date;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly recoveries: number;
  /** The number of times that the run has been claimed. */
  readonly claimCount: number;
  /** When the attempt under way times out; null before the first claim. */
  readonly deadlineAt: Date | null;
  /** Since when the current attempt has waited for an unavailable endpoint. */
  readonly unavailableSince: Date | null;
  /** The id of the request that asked for the run. */
  readonly requestId: string | null;
}

export const runColumns = (table: string) =>
  `${table}.id, ${table}.schedule_id as "scheduleId", ${table}.revision::float8 as revision, ${table}.org_id as "orgId",
   ${table}.connector, ${table}.instance, ${table}.trigger, ${table}.worker, ${table}.endpoint_id as "endpointId", ${table}.mode, ${table}.state, ${table}.parameters,
   ${table}.scheduled_for as "scheduledFor", ${table}.created_at as "createdAt", ${table}.attempts,
   ${table}.attempts_max as "maxAttempts", ${table}.recoveries, ${table}.claim_count as "claimCount",
   ${table}.deadline_at as "deadlineAt",
   ${table}.unavailable_since as "unavailableSince", ${table}.request_id as "requestId"`;

export const inProgress = `state in ('waiting', 'active', 'retrying')`;

/** Whether the rows of two tables belong to the same instance of a connector. */
export const isSameInstance = (one: string, other: string) =>
  `${one}.org_id = ${other}.org_id and ${one}.connector = ${other}.connector and ${one}.instance = ${other}.instance`;

/** Matches the rows of an instance; its parameters are {@link instanceValues}, the first three of the statement. */
export const ofInstance = 'org_id = $1 and connector = $2 and instance = $3';
export const instanceValues = ({ orgId, connector, instance }: InstanceKey) => [orgId, connector, instance];

/** A run that is to be delivered to a worker. */
export type DueRun = Pick<Run, keyof InstanceKey | 'id' | 'worker' | 'claimCount'> & {
  /** Whether it waits until another run of the organisation's instances of the connector has left the queue. */
  readonly isHeldBack: boolean;
};
export const dueRunColumns = (table: string) =>
  `${table}.id, ${table}.org_id as "orgId", ${table}.connector, ${table}.instance, ${table}.worker, ${table}.claim_count as "claimCount",
   ${table}.due_at is null and ${table}.state in ('waiting', 'retrying') as "isHeldBack"`;

/**
 * Whether the queue, or one of its workers, has another run of the organisation's instances of the connector. There is one
 * at a time, so that an organisation with many instances leaves the connector's places to others. Workers that pull claim
 * the runs of their organisation only, and need no such rule.
 */
export const isLaneBusy = (run: {
  readonly orgId: string;
  readonly connector: string;
  readonly id: string;
}) => `
  exists (select from runs other where other.org_id = ${run.orgId} and other.connector = ${run.connector}
    and other.state in ('waiting', 'active', 'retrying') and other.worker <> 'pull'
    and (other.is_queued or other.state = 'active') and other.id <> ${run.id})`;

/**
 * If a job is not claimed this long after it was added, it is added again, in case the queue has lost it; a job that the
 * queue has is not added twice. The period doubles each time.
 */
export const REQUEUE_AFTER_MS = 60_000;

/** The parameters of a run of the schedule `s`. */
export const toParameters = (table: string) => `jsonb_build_object(
  'userId', ${table}.user_id, 'config', ${table}.config, 'priority', ${table}.priority, 'metadata', ${table}.metadata,
  'timeoutMs', ${table}.timeout_ms, 'scheduledAt', (extract(epoch from ${table}.scheduled_at) * 1000)::bigint,
  'displayName', (select display_name from connector_instances i where ${isSameInstance('i', table)}))`;

/**
 * The mode of a run of the schedule `s` that is made at `at`, by what earlier runs left in `c`. A full crawl that has begun
 * is first completed: an incremental run would go on from its checkpoint, and what that leaves out would count as gone.
 *
 * @param requested - the mode that was asked for, which may be null.
 */
export const toMode = (at: string, requested = 'null::run_mode') => `
  case when c.full_started_at is not null then 'full' when ${requested} is not null then ${requested}
    when c.last_full_at is null or c.last_full_at + make_interval(days => s.full_every_days) <= ${at}
    then 'full'::run_mode else 'incremental' end`;

export interface RequestedRun {
  readonly id: string;
  readonly scheduleId: string;
  readonly at: Date;
  /** The id of the request that asks for the run. */
  readonly requestId: string;
  /** Undefined lets the schedule decide. */
  readonly mode: RunMode | undefined;
  readonly requestedBy: { readonly id: string; readonly name: string };
}

/*
 * Locks the schedule's row and reads it again, so that no run follows a pause or a removal that has been answered. A
 * requested run may also follow a finished one-off schedule.
 */
const insertRequested = `
  with schedule as (
    select *, worker <> 'pull' and ${isLaneBusy({ orgId: 'schedules.org_id', connector: 'schedules.connector', id: '$1::uuid' })}
      as is_held_back
    from schedules where id = $2 and state <> 'paused' for no key update
  ), made as (
  insert into runs (id, schedule_id, revision, org_id, connector, instance, trigger, tick, worker, endpoint_id, mode, parameters, state,
    scheduled_for, created_at, attempts_max, due_at, is_queued, request_id, requested_by, requested_by_name)
  select $1::uuid, s.id, s.revision, s.org_id, s.connector, s.instance, 'manual', 'm' || $1::text, s.worker, s.endpoint_id,
    ${toMode('$3', '$5::run_mode')},
    ${toParameters('s')} || jsonb_build_object('isRestart', $5::run_mode is not distinct from 'full'),
    'waiting', $3, $3, s.max_retries + 1, case when not is_held_back then $6::timestamptz end, not is_held_back, $4, $7, $8
  from schedule s left join connector_states c on ${isSameInstance('c', 's')}
  on conflict do nothing
  returning *
  ), audited as (${insertAudit(auditedInstance('made', 'id'), '$9')})
  select ${dueRunColumns('made')} from made`;

/** @returns undefined when another run is in progress, or the schedule is paused or was removed. */
export async function insertRequestedRun(
  db: Db,
  run: RequestedRun,
  act: Act | null,
): Promise<DueRun | undefined> {
  const requeueAt = new Date(run.at.getTime() + REQUEUE_AFTER_MS);
  const { rows } = await db.query<DueRun>({
    name: 'insert_requested_run',
    text: insertRequested,
    values: [
      run.id,
      run.scheduleId,
      run.at,
      run.requestId,
      run.mode ?? null,
      requeueAt,
      run.requestedBy.id,
      run.requestedBy.name,
      toAudit('crawl_run.requested', act),
    ],
  });
  return rows[0];
}

export async function hasRunInProgress(db: Db, key: InstanceKey): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'has_run_in_progress',
    text: `select from runs where ${ofInstance} and ${inProgress}`,
    values: instanceValues(key),
  });
  return rowCount === 1;
}

const pastNewest = (filter: string) =>
  `(select id from runs where ${ofInstance} and ${filter} order by id desc offset $4 limit 100)`;

/**
 * Deletes, a bounded number at a time, everything older than the newest `kept` runs and the newest `kept` skipped
 * ticks. The two are counted separately: a tick that is skipped every minute must not push out a failure.
 */
export const pruneRuns = (db: Db, key: InstanceKey, kept: number): Promise<unknown> =>
  db.query({
    name: 'prune_runs',
    text: `delete from runs where id in (
             ${pastNewest(`state <> 'skipped'`)} union all ${pastNewest(`state = 'skipped'`)}
           ) and not ${inProgress}`,
    values: [...instanceValues(key), kept],
  });

/**
 * Deletes a requested run whose job may not be in the queue, whatever its state.
 *
 * @returns false when a worker has claimed it, so that its job was in the queue.
 */
export async function withdrawRun(db: Db, id: string, act: Act | null): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'withdraw_run',
    text: `with withdrawn as (
             delete from runs where id = $1 and claim_count = 0 returning *
           ), audited as (${insertAudit(auditedInstance('withdrawn', 'id'), '$2')})
           select from withdrawn`,
    values: [id, toAudit('crawl_run.cancelled', act)],
  });
  return rowCount === 1;
}
