import type { Connector } from '@platform/events';
import pg from 'pg';
import type { Schedule } from '../domain/schedule.js';
import type { Run } from './runs.js';
import { inOneMessage, type Transaction, type Db } from './transaction.js';

export const scheduleColumns = (table: string) =>
  `${table}.id, ${table}.org_id as "orgId", ${table}.connector, ${table}.user_id as "userId", ${table}.config,
   ${table}.priority, ${table}.max_retries as "maxRetries", ${table}.timeout_ms as "timeoutMs", ${table}.metadata,
   ${table}.state, ${table}.revision::float8 as revision, ${table}.scheduled_at as "scheduledAt",
   ${table}.anchor_at as "anchorAt",
   ${table}.paused_at as "pausedAt", ${table}.next_run_at as "nextRunAt", ${table}.overdue_since as "overdueSince",
   ${table}.missed_runs as "missedRuns"`;
const columns = scheduleColumns('schedules');

/**
 * The columns that every change of a schedule (`s`) sets besides its own: a new revision, which invalidates the jobs
 * of earlier ones, and the mark that the queue is out of date. A change made while a replica applies the row does not
 * end that replica's lease.
 */
const changed = `
  revision = nextval('schedule_revisions'),
  queued_revisions = case when s.apply_at is not null then s.queued_revisions
    when s.state = 'active' then array[s.revision] else '{}' end,
  queued_one_off = (s.apply_at is not null and s.queued_one_off) or not s.is_recurring,
  apply_at = coalesce(s.apply_at, now())`;

export interface NewSchedule extends Pick<
  Schedule,
  'id' | 'orgId' | 'connector' | 'userId' | 'config' | 'priority' | 'maxRetries' | 'timeoutMs' | 'metadata'
> {
  readonly scheduledAt: Date;
  readonly anchorAt: Date;
  readonly nextRunAt: Date;
}

const upsert = `
  insert into schedules as s (id, org_id, connector, user_id, config, priority, max_retries, timeout_ms, metadata,
    state, revision, scheduled_at, next_run_at, anchor_at, apply_at, queued_one_off)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'active', nextval('schedule_revisions'), $10, $11, $12, now(), false)
  on conflict (org_id, connector) do update set
    user_id = excluded.user_id, config = excluded.config, priority = excluded.priority,
    max_retries = excluded.max_retries, timeout_ms = excluded.timeout_ms, metadata = excluded.metadata,
    state = 'active', scheduled_at = excluded.scheduled_at, next_run_at = excluded.next_run_at,
    anchor_at = excluded.anchor_at, paused_at = null,
    overdue_since = null, missed_runs = 0, ${changed}
  where $13::bigint is null or s.revision = $13
  returning revision::float8 as revision`;

/**
 * Creates the schedule, or replaces everything but its id.
 *
 * @param current - the revision to be replaced; undefined for any.
 * @returns the new revision; undefined when the current revision is not `current`.
 */
export async function upsertSchedule(
  db: pg.Pool,
  schedule: NewSchedule,
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
    ],
  });
  return rows[0]?.revision;
}

/** @returns undefined when that organisation has no such schedule. */
export async function findSchedule(
  db: pg.Pool | Transaction,
  orgId: string,
  connector: string,
): Promise<Schedule | undefined> {
  const { rows } = await db.query<Schedule>({
    name: 'find_schedule',
    text: `select ${columns} from schedules where org_id = $1 and connector = $2 and state <> 'removed'`,
    values: [orgId, connector],
  });
  return rows[0];
}

const stops = {
  paused: { from: `s.state = 'active'`, reason: 'The schedule was paused' },
  removed: { from: `s.state <> 'removed'`, reason: 'The schedule was removed' },
} as const;

/**
 * Pauses or removes the organisation's schedule of a connector, or all of its schedules, and aborts their runs in
 * progress. A second statement looks for the runs once the rows are locked, as the first one would not see a run that
 * began while it waited.
 *
 * @returns whether there was one.
 */
export async function stopSchedules(
  db: pg.Pool,
  to: keyof typeof stops,
  given: { readonly orgId: string; readonly connector?: Connector; readonly at: Date },
): Promise<boolean> {
  const { from, reason } = stops[to];
  const at = pg.escapeLiteral(given.at.toISOString());
  const target = `org_id = ${pg.escapeLiteral(given.orgId)}${
    given.connector === undefined ? '' : ` and connector = ${pg.escapeLiteral(given.connector)}`
  }`;
  const [stopped] = await inOneMessage(db, [
    // Rows are locked in the order of their ids: see unapplied-schedules.ts.
    `update schedules s set state = '${to}', paused_at = ${to === 'paused' ? at : 'null'}, next_run_at = null,
       overdue_since = null, ${changed}
     where id in (select id from schedules s where ${target} and ${from} order by id for no key update)`,
    `update runs set state = 'aborted', reason = '${reason}', finished_at = ${at}, lease_until = null
     where ${target} and state in ('waiting', 'active', 'retrying') and exists (
       select from schedules s where s.org_id = runs.org_id and s.connector = runs.connector and s.state = '${to}')`,
  ]);
  return (stopped?.rowCount ?? 0) > 0;
}

/** @returns the schedule under a new revision; undefined when it has changed since it was read. */
export async function resumeSchedule(
  db: pg.Pool | Transaction,
  { id, revision }: Pick<Schedule, 'id' | 'revision'>,
  nextRunAt: Date,
): Promise<Schedule | undefined> {
  const { rows } = await db.query<Schedule>({
    name: 'resume_schedule',
    text: `update schedules s set state = 'active', paused_at = null, next_run_at = $3, ${changed}
           where id = $1 and revision = $2 and state = 'paused' returning ${scheduleColumns('s')}`,
    values: [id, revision, nextRunAt],
  });
  return rows[0];
}

/** Returns the schedule of a run in any state; undefined when it was removed. */
export async function findScheduleById(db: Db, id: string): Promise<Schedule | undefined> {
  const { rows } = await db.query<Schedule>({
    name: 'schedule_by_id',
    text: `select ${columns} from schedules where id = $1 and state <> 'removed'`,
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

/** Finishes a one-off schedule that has had its run. A requested run, or one of an earlier revision, does not count. */
export const finishOneOff = (db: Db, run: Pick<Run, 'scheduleId' | 'revision'>): Promise<unknown> =>
  db.query({
    name: 'finish_one_off',
    text: `update schedules set state = 'finished', next_run_at = null, overdue_since = null
           where id = $1 and revision = $2 and state = 'active'`,
    values: [run.scheduleId, run.revision],
  });
