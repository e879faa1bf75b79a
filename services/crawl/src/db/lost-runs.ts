import type pg from 'pg';
import { leaseEnd, type Run, runColumns } from './runs.js';

export interface LostRun extends Run {
  readonly hasSchedule: boolean;
}

/**
 * In progress, without a sign of a worker for longer than a lease. The index also leads past runs whose claim is old and
 * whose heartbeat is not: no more than workers hold at a time.
 */
export async function findLost(db: pg.Pool, now: Date, limit: number): Promise<LostRun[]> {
  const { rows } = await db.query<LostRun>({
    name: 'lost_runs',
    text: `select ${runColumns('r')}, s.id is not null as "hasSchedule" from runs r left join schedules s on s.id = r.schedule_id and s.state <> 'removed'
           where r.state in ('waiting', 'active', 'retrying') and r.lease_until < $1 and ${leaseEnd('r')} < $1
           order by r.lease_until limit $2`,
    values: [now, limit],
  });
  return rows;
}

/** Extends the time in which a run may be claimed. */
export const extendLease = (db: pg.Pool, id: string, now: Date, until: Date): Promise<unknown> =>
  db.query({
    name: 'extend_lease',
    text: 'update runs set lease_until = $3 where id = $1 and lease_until < $2',
    values: [id, now, until],
  });

/**
 * Puts a lost run back to be claimed by any worker, by a job of another id. Nobody has asked its endpoint meanwhile: it may be
 * away anew.
 *
 * @returns whether it was still lost.
 */
export async function requeueLost(
  db: pg.Pool,
  run: Pick<Run, 'id' | 'recoveries'>,
  given: { readonly now: Date; readonly until: Date; readonly jobId: string },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'requeue_lost',
    text: `update runs set recoveries = recoveries + 1, lease_until = $4, state = 'waiting', away_since = null,
             job_id = $5, attempts = attempts - case when state = 'active' then 1 else 0 end
           where id = $1 and recoveries = $2 and state in ('waiting', 'active', 'retrying') and ${leaseEnd('runs')} < $3`,
    values: [run.id, run.recoveries, given.now, given.until, given.jobId],
  });
  return rowCount === 1;
}
