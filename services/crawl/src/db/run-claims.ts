import type { RunState, Tick } from '../domain/run-state.js';
import type { Schedule } from '../domain/schedule.js';
import { inProgress, leaseEnd, type Run, runColumns } from './runs.js';
import { scheduleColumns } from './schedules.js';
import type { Db } from './transaction.js';

/* The reads of a worker to which a job is delivered, and the claim of an existing run. */

const tick = `
  select ${scheduleColumns('s')}, existing.id as "existingId", existing.state as "existingState",
    exists (select from runs other where other.org_id = s.org_id and other.connector = s.connector
            and other.${inProgress}) as "hasOtherInProgress"
  from schedules s left join runs existing on existing.schedule_id = s.id and existing.tick = $2
  where s.id = $1`;

/** Reads everything that {@link decideTick} needs. */
export async function findTick(
  db: Db,
  given: {
    readonly scheduleId: string;
    readonly tick: string;
    readonly revision: number;
    readonly scheduledFor: number;
  },
): Promise<Tick> {
  const { revision, scheduledFor } = given;
  const { rows } = await db.query<
    Schedule & { existingId: string | null; existingState: RunState | null; hasOtherInProgress: boolean }
  >({ name: 'find_tick', text: tick, values: [given.scheduleId, given.tick] });
  const row = rows[0];
  return {
    schedule: row,
    existing:
      row && row.existingId !== null && row.existingState !== null
        ? { id: row.existingId, state: row.existingState }
        : undefined,
    hasOtherInProgress: row?.hasOtherInProgress ?? false,
    revision,
    scheduledFor,
  };
}

const reclaim = `
  update runs set
    attempts = attempts + case when state = 'active' then 0 else 1 end,
    recoveries = recoveries + case when state = 'active' then 1 else 0 end,
    -- An attempt that waited for its endpoint, or whose worker crashed, continues.
    attempt_started_at = case when state = 'active' or unavailable_since is not null
      then coalesce(attempt_started_at, started_at, $2) else $2 end,
    claim_count = claim_count + 1, state = 'active', started_at = coalesce(started_at, $2), progress = 10, job_id = $3, lease_until = $4
  where id = $1 and ${inProgress} and (state <> 'active' or ${leaseEnd('runs')} < $2) returning ${runColumns('runs')}`;

/**
 * Claims a run that exists; undefined when it has ended meanwhile, or a worker renews its lease: that a
 * queue delivers a job again does not mean that its worker is gone.
 */
export async function reclaimRun(
  db: Db,
  id: string,
  given: { readonly at: Date; readonly jobId: string; readonly leaseUntil: Date },
): Promise<Run | undefined> {
  const { rows } = await db.query<Run>({
    name: 'reclaim_run',
    text: reclaim,
    values: [id, given.at, given.jobId, given.leaseUntil],
  });
  return rows[0];
}

/** Returns the state of a run and when its lease expires; undefined when there is no such run. */
export async function findRunLease(
  db: Db,
  id: string,
): Promise<{ readonly state: RunState; readonly leaseUntil: Date | null } | undefined> {
  const { rows } = await db.query<{ state: RunState; leaseUntil: Date | null }>({
    name: 'run_lease',
    text: `select state, ${leaseEnd('runs')} as "leaseUntil" from runs where id = $1`,
    values: [id],
  });
  return rows[0];
}
