import { DEFAULT_INSTANCE } from '@platform/events';
import pg from 'pg';
import type { Act } from '../domain/act.js';
import type { InstanceKey } from '../domain/instance-key.js';
import type { Schedule } from '../domain/schedule.js';
import { cancelTasksOf } from './claimed-runs.js';
import { auditedInstance, insertAudit, insertRunFacts, toAudit } from './facts.js';
import { instanceValues, isSameInstance, ofInstance, type Run } from './runs.js';
import { inOneMessage, type Transaction, type Db } from './transaction.js';

export const scheduleColumns = (table: string) =>
  `${table}.id, ${table}.org_id as "orgId", ${table}.connector, ${table}.instance, ${table}.user_id as "userId", ${table}.config,
   ${table}.priority, ${table}.max_retries as "maxRetries", ${table}.timeout_ms as "timeoutMs", ${table}.metadata,
   ${table}.worker, ${table}.endpoint_id as "endpointId", ${table}.full_every_days as "fullEveryDays",
   ${table}.state, ${table}.revision::float8 as revision, ${table}.scheduled_at as "scheduledAt",
   ${table}.anchor_at as "anchorAt",
   ${table}.paused_at as "pausedAt", ${table}.paused_until as "pausedUntil", ${table}.next_run_at as "nextRunAt", ${table}.missed_runs as "missedRuns"`;
const columns = scheduleColumns('schedules');

export interface NewSchedule extends Pick<
  Schedule,
  | keyof InstanceKey | 'id' | 'userId' | 'config' | 'priority' | 'maxRetries' | 'timeoutMs' | 'metadata'
  | 'worker' | 'endpointId' | 'fullEveryDays'
> {
  readonly scheduledAt: Date;
  readonly anchorAt: Date;
  readonly nextRunAt: Date;
} // oxfmt-ignore

/* The properties of the instance are locked, so that no schedule is left behind when they are removed. */
const upsert = `
  with instance as (
    select from connector_instances where org_id = $2 and connector = $3 and instance = $16 for key share
  ), saved as (
  insert into schedules as s (id, org_id, connector, user_id, config, priority, max_retries, timeout_ms, metadata,
    state, revision, scheduled_at, next_run_at, anchor_at, worker, full_every_days, instance, endpoint_id)
  select $1, $2::uuid, $3, $4::uuid, $5::jsonb, $6::smallint, $7::smallint, $8::integer, $9::jsonb, 'active', nextval('schedule_revisions'),
    $10::timestamptz, $11::timestamptz, $12::timestamptz, $14::run_worker, $15::smallint, $16, $17::uuid
  where $16 = '${DEFAULT_INSTANCE}' or exists (select from instance)
  on conflict (org_id, connector, instance) do update set
    user_id = excluded.user_id, config = excluded.config, priority = excluded.priority,
    max_retries = excluded.max_retries, timeout_ms = excluded.timeout_ms, metadata = excluded.metadata,
    state = 'active', scheduled_at = excluded.scheduled_at, next_run_at = excluded.next_run_at,
    anchor_at = excluded.anchor_at, paused_at = null, paused_until = null, missed_runs = 0, worker = excluded.worker,
    endpoint_id = excluded.endpoint_id,
    full_every_days = excluded.full_every_days, revision = nextval('schedule_revisions')
  where $13::bigint is null or s.revision = $13
  returning id, org_id, connector, instance, revision::float8 as revision
  ), audited as (${insertAudit(auditedInstance('saved', 'id'), '$18')})
  select revision from saved`;

/**
 * Creates the schedule, or replaces everything but its id.
 *
 * @param current - the revision to be replaced; undefined for any.
 * @returns the new revision; undefined when the current revision is not `current`, or there is no such instance.
 */
export async function upsertSchedule(
  db: pg.Pool,
  schedule: NewSchedule,
  act: Act | null,
  current?: number,
): Promise<number | undefined> {
  const { rows } = await db.query<Pick<Schedule, 'revision'>>({
    name: 'upsert_schedule',
    text: upsert,
    values: [
      schedule.id,
      schedule.orgId,
      schedule.connector,
      schedule.userId,
      JSON.stringify(schedule.config),
      schedule.priority,
      schedule.maxRetries,
      schedule.timeoutMs,
      schedule.metadata === null ? null : JSON.stringify(schedule.metadata),
      schedule.scheduledAt,
      schedule.nextRunAt,
      schedule.anchorAt,
      current ?? null,
      schedule.worker,
      schedule.fullEveryDays,
      schedule.instance,
      schedule.endpointId,
      toAudit('crawl_schedule.saved', act),
    ],
  });
  return rows[0]?.revision;
}

/** @returns undefined when the instance has no schedule. */
export async function findSchedule(
  db: pg.Pool | Transaction,
  key: InstanceKey,
): Promise<Schedule | undefined> {
  const { rows } = await db.query<Schedule>({
    name: 'find_schedule',
    text: `select ${columns} from schedules where ${ofInstance}`,
    values: instanceValues(key),
  });
  return rows[0];
}

/** An instance, or all that an organisation has. */
interface StopTarget extends Partial<InstanceKey> {
  readonly orgId: string;
  readonly at: Date;
}

/** The same as {@link toAudit}, as a literal. */
const auditLiteral = (...given: Parameters<typeof toAudit>): string => {
  const audit = toAudit(...given);
  return audit === null ? 'null' : pg.escapeLiteral(audit);
};

const toTarget = ({ orgId, connector, instance }: StopTarget): string =>
  [
    `org_id = ${pg.escapeLiteral(orgId)}`,
    ...(connector === undefined ? [] : [`connector = ${pg.escapeLiteral(connector)}`]),
    ...(instance === undefined ? [] : [`instance = ${pg.escapeLiteral(instance)}`]),
  ].join(' and ');

/**
 * Aborts the runs of schedules that were stopped by the statement before, in the same transaction. It is a statement of
 * its own, which looks for the runs once the rows of the schedules are locked, as it would not see a run that was made
 * while it waited. Runs are locked in the order of their ids, as by the heartbeat, which locks many.
 */
function abortRuns(target: StopTarget, reason: string, schedules: string): string {
  const at = `${pg.escapeLiteral(target.at.toISOString())}::timestamptz`;
  return `with ended as (
      update runs set state = 'aborted', reason = '${reason}', finished_at = ${at}, due_at = null, parameters = null
      where id in (
        select id from runs where ${toTarget(target)} and state in ('waiting', 'active', 'retrying') and ${schedules}
        order by id for no key update)
      returning *
    ), facts as (${insertRunFacts('ended')}
    ) ${cancelTasksOf('ended', at)}`;
}

/**
 * Pauses the schedule of an instance, and aborts its run in progress.
 *
 * @param until - when it resumes by itself; by default never.
 * @returns whether it was active.
 */
export async function pauseSchedule(
  db: pg.Pool,
  target: StopTarget,
  act: Act | null,
  until?: Date,
): Promise<boolean> {
  const [paused] = await inOneMessage(db, [
    `with paused as (
     update schedules set state = 'paused', paused_at = ${pg.escapeLiteral(target.at.toISOString())}, next_run_at = null, ring_due_at = null,
       paused_until = ${until ? pg.escapeLiteral(until.toISOString()) : 'null'}, revision = nextval('schedule_revisions')
     where ${toTarget(target)} and state = 'active' returning id, org_id, connector, instance
     ), audited as (${insertAudit(auditedInstance('paused', 'id'), auditLiteral('crawl_schedule.paused', act))})
     select from paused`,
    abortRuns(
      target,
      'The schedule was paused',
      `exists (select from schedules s where ${isSameInstance('s', 'runs')} and s.state = 'paused')`,
    ),
  ]);
  return (paused?.rowCount ?? 0) > 0;
}

/**
 * Removes the schedule of an instance, or all of the organisation's, and aborts their runs in progress. What their runs
 * left for the next one is removed, too, but for their history.
 *
 * @param what - `with instances` removes their history and properties, too: the latter first, as a schedule is saved only
 * while they are locked.
 */
export async function removeSchedules(
  db: pg.Pool,
  target: StopTarget,
  act: Act | null,
  what: 'schedules' | 'with instances' = 'schedules',
): Promise<void> {
  const removeFrom = (
    table: string,
    action: 'crawl_schedule.removed' | 'crawl_instance.removed' | 'crawl_hook.removed',
    subject: string,
    rows = toTarget(target),
  ) => `with removed as (delete from ${table} where ${rows} returning *)
    ${insertAudit(auditedInstance('removed', subject), auditLiteral(action, act))}`;
  const isRemoved = (table: string) =>
    `not exists (select from schedules s where ${isSameInstance('s', table)})`;
  const isWhole = what === 'with instances';
  await inOneMessage(db, [
    ...(isWhole
      ? [
          removeFrom('connector_instances', 'crawl_instance.removed', 'null::uuid'),
          // Before the schedule, as a ring locks its hook first.
          removeFrom('hooks', 'crawl_hook.removed', 'id'),
        ]
      : []),
    removeFrom(
      'schedules',
      'crawl_schedule.removed',
      'id',
      `id in (select id from schedules where ${toTarget(target)} order by id for update)`,
    ),
    abortRuns(target, 'The schedule was removed', isRemoved('runs')),
    // Runs first, as every statement does: the report of a run that was aborted earlier could deadlock with this otherwise.
    ...[...(isWhole ? ['runs'] : []), 'connector_states', ...(isWhole ? ['worker_sightings'] : [])].map(
      (table) => `delete from ${table} where ${toTarget(target)} and ${isRemoved(table)}`,
    ),
  ]);
}

/** @returns the schedule under a new revision; undefined when it has changed since it was read. */
export async function resumeSchedule(
  db: pg.Pool | Transaction,
  { id, revision }: Pick<Schedule, 'id' | 'revision'>,
  nextRunAt: Date,
  act: Act | null,
): Promise<Schedule | undefined> {
  const { rows } = await db.query<Schedule>({
    name: 'resume_schedule',
    text: `with resumed as (
             update schedules set state = 'active', paused_at = null, paused_until = null, next_run_at = $3,
               revision = nextval('schedule_revisions')
             where id = $1 and revision = $2 and state = 'paused' returning *
           ), audited as (${insertAudit(auditedInstance('resumed', 'id'), '$4')})
           select ${scheduleColumns('resumed')} from resumed`,
    values: [id, revision, nextRunAt, toAudit('crawl_schedule.resumed', act)],
  });
  return rows[0];
}

/** Returns schedules whose pause is over, at most `limit`. */
export async function findPausesOver(db: pg.Pool, now: Date, limit: number): Promise<Schedule[]> {
  const { rows } = await db.query<Schedule>({
    name: 'pauses_over',
    text: `select ${columns} from schedules where paused_until <= $1 order by paused_until limit $2`,
    values: [now, limit],
  });
  return rows;
}

export const lockScheduleRow = (tx: Transaction, id: string): Promise<unknown> =>
  tx.query({
    name: 'lock_schedule_row',
    text: 'select from schedules where id = $1 for no key update',
    values: [id],
  });

/** Finishes a one-off schedule that has had its run. A requested run, or one of an earlier revision, does not count. */
export const finishOneOff = (db: Db, run: Pick<Run, 'scheduleId' | 'revision'>): Promise<unknown> =>
  db.query({
    name: 'finish_one_off',
    text: `update schedules set state = 'finished', next_run_at = null
           where id = $1 and revision = $2 and state = 'active'`,
    values: [run.scheduleId, run.revision],
  });
