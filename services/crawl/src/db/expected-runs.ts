import type pg from 'pg';
import type { Schedule } from '../domain/schedule.js';
import type { Transaction } from './transaction.js';

/* Each of these queries reads a bounded part of an index. */

/** The columns that are needed to look for a schedule's job; a repair reads the whole row, under its lock. */
export interface ExpectedJob extends Pick<Schedule, 'id' | 'orgId' | 'connector' | 'revision' | 'nextRunAt'> {
  readonly isRecurring: boolean;
}

const expectedJob = `s.id, s.org_id as "orgId", s.connector, s.revision::float8 as revision,
   s.next_run_at as "nextRunAt", s.is_recurring as "isRecurring"`;

/** Returns the schedules that were due before `before` and have no run in progress, in order, after `last`. */
export async function findOverdue(
  db: pg.Pool,
  before: Date,
  last: Pick<ExpectedJob, 'id' | 'nextRunAt'> | undefined,
  limit: number,
): Promise<ExpectedJob[]> {
  const { rows } = await db.query<ExpectedJob>({
    name: 'overdue_schedules',
    text: `select ${expectedJob} from schedules s
           where s.state = 'active' and s.next_run_at < $1
             and ($2::uuid is null or (s.next_run_at, s.id) > ($3::timestamptz, $2)) and not exists (
             select from runs r where r.org_id = s.org_id and r.connector = s.connector
               and r.state in ('waiting', 'active', 'retrying'))
           order by s.next_run_at, s.id limit $4`,
    values: [before, last?.id ?? null, last?.nextRunAt ?? null, limit],
  });
  return rows;
}

/** The most waiting runs that are read. */
const MAX_WAITING = 1_000;

/**
 * Returns for how many seconds the longest waiting run has been due; 0 when none waits. Reads the first due schedule
 * without a run in progress, and a bounded part of the runs that no worker has claimed.
 */
export async function readOldestDueAge(db: pg.Pool, now: Date): Promise<number> {
  const { rows } = await db.query<{ age: number }>({
    name: 'oldest_due_age',
    text: `select coalesce(extract(epoch from $1::timestamptz - min(at)), 0)::float8 as age from (
             (select s.next_run_at as at from schedules s
               where s.state = 'active' and s.next_run_at <= $1 and not exists (
                 select from runs r where r.org_id = s.org_id and r.connector = s.connector
                   and r.state in ('waiting', 'active', 'retrying'))
               order by s.next_run_at limit 1)
             union all
             (select least(w.scheduled_for, $1) from (
                select state, scheduled_for from runs
                 where state in ('waiting', 'active', 'retrying') and state = 'waiting'
                 order by lease_until limit $2) w)) as due`,
    values: [now, MAX_WAITING],
  });
  return rows[0]?.age ?? 0;
}

export const markOverdue = (db: pg.Pool, ids: readonly string[]): Promise<unknown> =>
  db.query({
    name: 'mark_overdue',
    text: `update schedules set overdue_since = next_run_at
           where id = any($1) and state = 'active' and overdue_since is null`,
    values: [ids],
  });

/**
 * Records that the run expected at `expected` did not happen, and sets when the next one is expected; null leaves
 * that as it is. The queue has lost the job, and perhaps more, so the schedule is marked for the applier.
 *
 * @returns whether the run was still expected; if so, no tick can be claimed until the transaction ends.
 */
export async function recordMissedRun(
  tx: Transaction,
  { id, revision }: Pick<ExpectedJob, 'id' | 'revision'>,
  expected: Date,
  nextRunAt: Date | null,
): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'record_missed_run',
    text: `update schedules set missed_runs = missed_runs + 1, overdue_since = null,
             next_run_at = coalesce($3, next_run_at),
             queued_revisions = case when apply_at is null then array[revision] else queued_revisions end,
             apply_at = case when $3::timestamptz is null then apply_at else coalesce(apply_at, now()) end
           where id = $1 and revision = $4 and state = 'active' and next_run_at = $2`,
    values: [id, expected, nextRunAt, revision],
  });
  return rowCount === 1;
}
