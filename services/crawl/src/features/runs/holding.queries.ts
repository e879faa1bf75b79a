import type { Transaction } from '../../transaction.js';
import type { Db, Run } from './queries.js';

/* What a worker writes of the run in its hands. */

/**
 * What a worker writes of a run counts only while the run is still in its hands: each time it is
 * taken up it has another pair of these numbers.
 */
export type Holding = Pick<Run, 'id' | 'attempts' | 'recoveries'>;
const isHeld = (first: number) => `state = 'active' and attempts = $${first} and recoveries = $${first + 1}`;

export const lockScheduleRow = (tx: Transaction, id: string): Promise<unknown> =>
  tx.query({
    name: 'lock_schedule_row',
    text: 'select from schedules where id = $1 for no key update',
    values: [id],
  });

const end = (outcome: 'completed' | 'failed') => `
  with ended as (
    update runs set state = '${outcome}', finished_at = $2, reason = $3, event_id = $4, lease_until = null,
      progress = ${outcome === 'completed' ? '100' : 'progress'}
    where id = $1 and ${isHeld(5)} returning org_id
  )
  insert into org_statistics (org_id, ${outcome}) select org_id, 1 from ended
  on conflict (org_id) do update set ${outcome} = org_statistics.${outcome} + 1`;
const endStatements = { completed: end('completed'), failed: end('failed') };

export interface RunEnd {
  readonly run: Holding;
  readonly outcome: 'completed' | 'failed';
  readonly at: Date;
  readonly reason: string | null;
  readonly eventId: string | null;
}

/** @returns whether the run was in these hands until now. */
export async function endRun(db: Db, { run, outcome, at, reason, eventId }: RunEnd): Promise<boolean> {
  const { rowCount } = await db.query({
    name: `end_run_${outcome}`,
    text: endStatements[outcome],
    values: [run.id, at, reason, eventId, run.attempts, run.recoveries],
  });
  return rowCount === 1;
}

/** @returns whether the run was in these hands until now. */
export async function markRetrying(db: Db, run: Holding, reason: string, leaseUntil: Date): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'retry_run',
    text: `update runs set state = 'retrying', reason = $2, lease_until = $3 where id = $1 and ${isHeld(4)}`,
    values: [run.id, reason, leaseUntil, run.attempts, run.recoveries],
  });
  return rowCount === 1;
}

/** The attempt that was under way doesn't count. */
export const markHandedBack = (db: Db, run: Holding, leaseUntil: Date): Promise<unknown> =>
  db.query({
    name: 'hand_back_run',
    text: `update runs set state = 'waiting', attempts = attempts - 1, progress = 0, lease_until = $2
           where id = $1 and ${isHeld(3)}`,
    values: [run.id, leaseUntil, run.attempts, run.recoveries],
  });

/** Keeps runs from being taken for lost. @returns those that are still in these hands. */
export async function renewLeases(
  db: Db,
  runs: readonly Holding[],
  leaseUntil: Date,
): Promise<ReadonlySet<Holding>> {
  const { rows } = await db.query<{ number: number }>({
    name: 'renew_leases',
    text: `update runs set lease_until = $4
           from unnest($1::uuid[], $2::int[], $3::int[]) with ordinality as held (id, attempts, recoveries, number)
           where runs.id = held.id and state = 'active'
             and runs.attempts = held.attempts and runs.recoveries = held.recoveries
           returning held.number::int as number`,
    values: [
      runs.map(({ id }) => id),
      runs.map(({ attempts }) => attempts),
      runs.map(({ recoveries }) => recoveries),
      leaseUntil,
    ],
  });
  return new Set(rows.flatMap(({ number }) => runs[number - 1] ?? []));
}

export const saveProgress = (db: Db, id: string, progress: number): Promise<unknown> =>
  db.query({
    name: 'run_progress',
    text: `update runs set progress = greatest(progress, $2) where id = $1 and state = 'active'`,
    values: [id, progress],
  });
