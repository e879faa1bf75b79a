import { isSameInstance, type NewRun, newRunColumns, toMode, toParameters, toPlaceInLine } from './runs.js';
import type { Transaction } from './transaction.js';

/* The runs that hooks have asked for. The schedule's row says when one is due, so several hooks of an instance are one run. */

/** Locks schedules whose hooks have asked for a run that is due, except those with a run in progress. @returns their ids. */
export async function lockRungSchedules(tx: Transaction, now: Date, limit: number): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>({
    name: 'lock_rung_schedules',
    text: `select s.id from schedules s
           where s.ring_due_at <= $1 and s.state <> 'paused' and not exists (
             select from runs r where ${isSameInstance('r', 's')} and r.state in ('waiting', 'active', 'retrying'))
           order by s.ring_due_at limit $2 for no key update skip locked`,
    values: [now, limit],
  });
  return rows.map(({ id }) => id);
}

/* A separate statement after the locking one, so that it sees every run that was made before. */
const insert = `
  with given as (
    select t."runId", s.*, ${toParameters('s')} as parameters, ${toMode('$2::timestamptz')} as mode
    from jsonb_to_recordset($1::jsonb) as t ("runId" uuid, "scheduleId" uuid)
      join schedules s on s.id = t."scheduleId" left join connector_states c on ${isSameInstance('c', 's')}
  ), placed as (
    select *, row_number() over (partition by org_id, connector, worker = 'pull' order by "runId") - 1 as nth from given
  ), made as (
    insert into runs (id, schedule_id, revision, org_id, connector, instance, trigger, tick, worker, endpoint_id, mode, parameters,
      state, scheduled_for, created_at, attempts_max, due_at)
    select "runId", id, revision, org_id, connector, instance, 'hook', 'h' || "runId", worker, endpoint_id, mode, parameters,
      'waiting', $2, $2, max_retries + 1, ${toPlaceInLine('placed', '$2::timestamptz', 'nth')}
    from placed order by "runId"
    on conflict do nothing
    returning *
  ), answered as (
    update schedules s set ring_due_at = null from made where s.id = made.schedule_id
  )
  select ${newRunColumns('made')} from made`;

/** Makes the runs of locked schedules. */
export async function insertRungRuns(
  tx: Transaction,
  given: readonly { readonly runId: string; readonly scheduleId: string }[],
  now: Date,
): Promise<NewRun[]> {
  const { rows } = await tx.query<NewRun>({
    name: 'insert_rung_runs',
    text: insert,
    values: [JSON.stringify(given), now],
  });
  return rows;
}
