import type pg from 'pg';
import { leaseEnd, type Run, runColumns } from './runs.js';

export interface LostRun extends Run {
  readonly hasSchedule: boolean;
}

/**
 * Returns the runs in progress whose lease has expired. The index also finds runs with an old claim and a recent
 * heartbeat, but no more of them than workers hold at a time.
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

/** Extends the time within which a run can be claimed. */
export const extendLease = (db: pg.Pool, id: string, now: Date, until: Date): Promise<unknown> =>
  db.query({
    name: 'extend_lease',
    text: 'update runs set lease_until = $3 where id = $1 and lease_until < $2',
    values: [id, now, until],
  });

/**
 * Requeues a lost run under another job id, so that any worker can claim it. Nobody has called its endpoint in the
 * meantime, so its grace period starts again.
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
    text: `update runs set recoveries = recoveries + 1, lease_until = $4, state = 'waiting', unavailable_since = null,
             job_id = $5, attempts = attempts - case when state = 'active' then 1 else 0 end
           where id = $1 and recoveries = $2 and state in ('waiting', 'active', 'retrying') and ${leaseEnd('runs')} < $3`,
    values: [run.id, run.recoveries, given.now, given.until, given.jobId],
  });
  return rowCount === 1;
}
