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
  /** The trace of the request that asked for the run, if it is traced. */
  readonly traceparent?: string | null;
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

/** A run that was made. */
export type NewRun = Pick<Run, keyof InstanceKey | 'id' | 'worker'>;
export const newRunColumns = (table: string) =>
  `${table}.id, ${table}.org_id as "orgId", ${table}.connector, ${table}.instance, ${table}.worker`;

/** So far apart the runs of an organisation's instances of a connector line up. */
const SPACING = `interval '1 hour'`;

/**
 * The place of a new run in the line of its connector, which is `due_at` while it waits: now, or an hour behind the last of
 * the organisation's runs of the connector. Runs of others that become due meanwhile come between, so nobody waits behind a
 * hundred instances of one organisation. Places order the line, and are not waited for. Workers that pull claim the runs
 * of their organisation only, and need no line.
 *
 * @param run - has the columns org_id, connector and worker. @param nth - of the organisation's runs of the connector that
 * the statement makes, from 0.
 */
export const toPlaceInLine = (run: string, at: string, nth = '0') => `
  case when ${run}.worker = 'pull' then ${at} else greatest(${at}, (
    select max(case when other.state = 'waiting' then other.due_at else ${at} end) from runs other
    where other.org_id = ${run}.org_id and other.connector = ${run}.connector
      and other.state in ('waiting', 'active', 'retrying') and other.worker <> 'pull') + ${SPACING}) + ${nth} * ${SPACING} end`;

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
  readonly traceparent: string | undefined;
}

/*
 * Locks the schedule's row and reads it again, so that no run follows a pause or a removal that has been answered. A
 * requested run may also follow a finished one-off schedule.
 */
const insertRequested = `
  with schedule as (
    select * from schedules where id = $2 and state <> 'paused' for no key update
  ), made as (
  insert into runs (id, schedule_id, revision, org_id, connector, instance, trigger, tick, worker, endpoint_id, mode, parameters, state,
    scheduled_for, created_at, attempts_max, due_at, request_id, requested_by, requested_by_name)
  select $1::uuid, s.id, s.revision, s.org_id, s.connector, s.instance, 'manual', 'm' || $1::text, s.worker, s.endpoint_id,
    ${toMode('$3', '$5::run_mode')},
    ${toParameters('s')} || jsonb_build_object('isRestart', $5::run_mode is not distinct from 'full', 'traceparent', $6::text),
    'waiting', $3, $3, s.max_retries + 1, ${toPlaceInLine('s', '$3::timestamptz')}, $4, $7, $8
  from schedule s left join connector_states c on ${isSameInstance('c', 's')}
  on conflict do nothing
  returning *
  ), audited as (${insertAudit(auditedInstance('made', 'id'), '$9')})
  select ${newRunColumns('made')} from made`;

/** @returns undefined when another run is in progress, or the schedule is paused or was removed. */
export async function insertRequestedRun(
  db: Db,
  run: RequestedRun,
  act: Act | null,
): Promise<NewRun | undefined> {
  const { rows } = await db.query<NewRun>({
    name: 'insert_requested_run',
    text: insertRequested,
    values: [
      run.id,
      run.scheduleId,
      run.at,
      run.requestId,
      run.mode ?? null,
      run.traceparent ?? null,
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

/** The outcomes of runs, each of which keeps its newest ones: a tick that is skipped every minute must not push out a failure. */
const outcomes = ['completed', 'failed', 'aborted', 'skipped'] as const satisfies readonly RunState[];

/** Deletes, a bounded number at a time, everything older than the newest `kept` runs of each outcome (CRAWL-27). */
export const pruneRuns = (db: Db, key: InstanceKey, kept: number): Promise<unknown> =>
  db.query({
    name: 'prune_runs',
    text: `delete from runs where id in (${outcomes
      .map(
        (outcome) =>
          `(select id from runs where ${ofInstance} and state = '${outcome}' order by id desc offset $4 limit 100)`,
      )
      .join(' union all ')})`,
    values: [...instanceValues(key), kept],
  });
