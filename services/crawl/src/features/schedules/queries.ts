import type { Connector } from '@platform/events';
import pg from 'pg';
import type { Transaction } from '../../transaction.js';
import type { ScheduleConfig } from './schemas.js';

export type ScheduleState = 'active' | 'paused' | 'finished';

export interface Schedule {
  readonly id: string;
  readonly orgId: string;
  readonly connector: Connector;
  readonly userId: string;
  readonly config: ScheduleConfig;
  readonly priority: number;
  readonly maxRetries: number;
  readonly timeoutMs: number;
  readonly metadata: Record<string, unknown> | null;
  readonly state: ScheduleState;
  /** Grows with every write that voids earlier jobs. */
  readonly revision: number;
  readonly scheduledAt: Date;
  /** What an interval is counted from: when the times of the schedule were last changed. */
  readonly anchorAt: Date;
  readonly pausedAt: Date | null;
  readonly nextRunAt: Date | null;
  readonly overdueSince: Date | null;
  readonly missedRuns: number;
}

export const scheduleColumns = (table: string) =>
  `${table}.id, ${table}.org_id as "orgId", ${table}.connector, ${table}.user_id as "userId", ${table}.config,
   ${table}.priority, ${table}.max_retries as "maxRetries", ${table}.timeout_ms as "timeoutMs", ${table}.metadata,
   ${table}.state, ${table}.revision::float8 as revision, ${table}.scheduled_at as "scheduledAt",
   coalesce(${table}.anchor_at, ${table}.scheduled_at) as "anchorAt",
   ${table}.paused_at as "pausedAt", ${table}.next_run_at as "nextRunAt", ${table}.overdue_since as "overdueSince",
   ${table}.missed_runs as "missedRuns"`;
const columns = scheduleColumns('schedules');

/**
 * Opens a transaction, see `inTransaction`, that makes everything that writes a connector's
 * schedule, or changes its jobs, wait for one another: the row may not exist yet, so the lock is on
 * its name. Two upserts of one job scheduler at once are not safe on BullMQ's PostgreSQL backend.
 */
export const beginLocked = (orgId: string, connector: string): string =>
  `begin; select pg_advisory_xact_lock(hashtextextended(${pg.escapeLiteral(`${orgId}:${connector}`)}, 0))`;

export interface NewSchedule extends Pick<
  Schedule,
  'id' | 'orgId' | 'connector' | 'userId' | 'config' | 'priority' | 'maxRetries' | 'timeoutMs' | 'metadata'
> {
  readonly scheduledAt: Date;
  readonly anchorAt: Date;
  readonly nextRunAt: Date;
}

/** What the queue must know of a revision of a schedule to find its jobs. */
export type Replaced = Pick<Schedule, 'id' | 'orgId' | 'connector' | 'config' | 'revision'>;

const upsert = `
  with previous as (
    select id, org_id as "orgId", connector, config, revision::float8 as revision from schedules where org_id = $2 and connector = $3
  )
  insert into schedules (id, org_id, connector, user_id, config, priority, max_retries, timeout_ms, metadata,
    state, revision, scheduled_at, next_run_at, anchor_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'active', nextval('schedule_revisions'), $10, $11, $12)
  on conflict (org_id, connector) do update set
    user_id = excluded.user_id, config = excluded.config, priority = excluded.priority,
    max_retries = excluded.max_retries, timeout_ms = excluded.timeout_ms, metadata = excluded.metadata,
    state = 'active', revision = excluded.revision, scheduled_at = excluded.scheduled_at,
    next_run_at = excluded.next_run_at, anchor_at = excluded.anchor_at, paused_at = null, overdue_since = null, missed_runs = 0
  returning id, revision::float8 as revision, (select to_jsonb(previous) from previous) as previous`;

/** What the queue must know of a schedule. */
export type Queued = Replaced & Pick<Schedule, 'maxRetries' | 'anchorAt' | 'nextRunAt'>;

interface Upserted extends Pick<Schedule, 'id' | 'revision'> {
  readonly previous: Replaced | null;
}

/** Creates the schedule, or replaces all of it but its id. @returns what the queue must know of it, and of what was before. */
export async function upsertSchedule(
  tx: Transaction,
  schedule: NewSchedule,
): Promise<Queued & { readonly previous: Replaced | undefined }> {
  const { rows } = await tx.query<Upserted>({
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
    ],
  });
  const { id, revision, previous } = rows[0] as Upserted;
  return { ...schedule, id, revision, previous: previous ?? undefined };
}

/** @returns undefined when there is none of that organisation. */
export async function findSchedule(
  db: pg.Pool | Transaction,
  orgId: string,
  connector: string,
): Promise<Schedule | undefined> {
  const { rows } = await db.query<Schedule>({
    name: 'find_schedule',
    text: `select ${columns} from schedules where org_id = $1 and connector = $2`,
    values: [orgId, connector],
  });
  return rows[0];
}

export async function findConnectors(db: pg.Pool, orgId: string): Promise<Connector[]> {
  const { rows } = await db.query<{ connector: Connector }>({
    name: 'schedule_connectors',
    text: 'select connector from schedules where org_id = $1 order by connector',
    values: [orgId],
  });
  return rows.map(({ connector }) => connector);
}

/** @returns whether it was active: the end of a one-off job's run takes no lock but the row's. */
export async function markPaused(tx: Transaction, id: string, at: Date): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'pause_schedule',
    text: `update schedules set state = 'paused', paused_at = $2, next_run_at = null, overdue_since = null
           where id = $1 and state = 'active'`,
    values: [id, at],
  });
  return rowCount === 1;
}

/** @returns the schedule as it is now, under a revision of its own. */
export async function markResumed(tx: Transaction, id: string, nextRunAt: Date): Promise<Schedule> {
  const { rows } = await tx.query<Schedule>({
    name: 'resume_schedule',
    text: `update schedules set state = 'active', paused_at = null, next_run_at = $2,
             revision = nextval('schedule_revisions')
           where id = $1 returning ${columns}`,
    values: [id, nextRunAt],
  });
  return rows[0] as Schedule;
}

/** @returns the removed schedule; undefined when there was none. */
export async function deleteSchedule(
  tx: Transaction,
  orgId: string,
  connector: string,
): Promise<Schedule | undefined> {
  const { rows } = await tx.query<Schedule>({
    name: 'delete_schedule',
    text: `delete from schedules where org_id = $1 and connector = $2 returning ${columns}`,
    values: [orgId, connector],
  });
  return rows[0];
}
