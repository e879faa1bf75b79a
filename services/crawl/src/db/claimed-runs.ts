import { outboxInsertFrom, outboxValues, type SyncEvent } from '@platform/events';
import type { Run } from './runs.js';
import type { Db } from './transaction.js';

/* A worker's writes to a run that it has claimed. */

/**
 * Identifies one claim of a run. A worker's write takes effect only while its claim is valid, and each claim has
 * another number, so a write whose response was lost can be repeated.
 */
export type RunClaim = Pick<Run, 'id' | 'claimCount'>;
const isHeld = (number: number) => `state = 'active' and claim_count = $${number}`;

/*
 * The end of the run, the count and the event are one statement, so all of them are stored or none, without an open
 * transaction.
 */
const end = (outcome: 'completed' | 'failed', set: string) => `
  with ended as (
    update runs set state = '${outcome}', finished_at = $3, lease_until = null, ${set}
    where id = $1 and ${isHeld(2)} returning org_id
  ), counted as (
    insert into org_statistics (org_id, ${outcome}) select org_id, 1 from ended
    on conflict (org_id) do update set ${outcome} = org_statistics.${outcome} + 1
  )`;
const completion = `${end('completed', 'progress = 100, reason = null, task_location = null, event_id = $4::uuid')}, published as (
    ${outboxInsertFrom('ended', 4)}
  )
  select from ended`;
const failure = `${end('failed', 'reason = $4')} select from ended`;

/** Completes the run and stores its event. @returns whether the claim was valid. */
export async function completeRun(db: Db, run: RunClaim, at: Date, event: SyncEvent): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'complete_run',
    text: completion,
    values: [run.id, run.claimCount, at, ...outboxValues(event, run.id)],
  });
  return rowCount === 1;
}

/** Fails the run: it is not tried again. @returns whether the claim was valid. */
export async function failRun(db: Db, run: RunClaim, at: Date, reason: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'fail_run',
    text: failure,
    values: [run.id, run.claimCount, at, reason],
  });
  return rowCount === 1;
}

/**
 * Ends an attempt that will be followed by another one, and stores its outcome. The write can be repeated: only the
 * first one finds the attempt active.
 *
 * @returns whether the claim was valid, or had been released by the same worker.
 */
export async function markRetrying(
  db: Db,
  run: RunClaim,
  given: { readonly reason: string; readonly at: Date; readonly leaseUntil: Date },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'retry_run',
    text: `update runs set state = 'retrying', reason = $2, lease_until = $3, unavailable_since = null, task_location = null,
             failed_attempts = case when state = 'active' then failed_attempts || jsonb_build_object(
               'number', attempts, 'startedAt', (extract(epoch from coalesce(attempt_started_at, started_at)) * 1000)::bigint,
               'endedAt', (extract(epoch from $5::timestamptz) * 1000)::bigint, 'reason', $2::text) else failed_attempts end
           where id = $1 and state in ('active', 'retrying') and claim_count = $4`,
    values: [run.id, given.reason, given.leaseUntil, run.claimCount, given.at],
  });
  return rowCount === 1;
}

/**
 * Postpones a run until its endpoint is available; the same attempt then continues and is not counted twice.
 *
 * @returns whether the claim was valid, or had been released by the same worker.
 */
export async function markPostponed(
  db: Db,
  run: RunClaim,
  given: { readonly reason: string; readonly since: Date; readonly leaseUntil: Date },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'postpone_run',
    text: `update runs set state = 'retrying', attempts = attempts - (state = 'active')::int, reason = $3,
             unavailable_since = $4, lease_until = $5
           where id = $1 and state in ('active', 'retrying') and claim_count = $2`,
    values: [run.id, run.claimCount, given.reason, given.since, given.leaseUntil],
  });
  return rowCount === 1;
}

/**
 * Returns a run to the queue. Its attempt doesn't count. No worker calls its endpoint until the next claim, which
 * starts with the full grace period.
 */
export const markHandedBack = (db: Db, run: RunClaim, leaseUntil: Date): Promise<unknown> =>
  db.query({
    name: 'hand_back_run',
    text: `update runs set state = 'waiting', attempts = attempts - 1, progress = 0, lease_until = $2, unavailable_since = null,
             reason = case when unavailable_since is null then reason end
           where id = $1 and ${isHeld(3)}`,
    values: [run.id, leaseUntil, run.claimCount],
  });

/**
 * Renews the leases of runs, without a write to any index.
 *
 * @returns the runs whose claims are still valid.
 */
export async function renewLeases(
  db: Db,
  runs: readonly RunClaim[],
  leaseUntil: Date,
): Promise<ReadonlySet<RunClaim>> {
  const { rows } = await db.query<{ number: number }>({
    name: 'renew_leases',
    // The claim's own time is indexed, and stays as it is unless the clock was set back.
    text: `update runs set heartbeat_until = $3, lease_until = least(lease_until, $3)
           from unnest($1::uuid[], $2::int[]) with ordinality as held (id, claim_count, number)
           where runs.id = held.id and state = 'active' and runs.claim_count = held.claim_count
           returning held.number::int as number`,
    values: [runs.map(({ id }) => id), runs.map(({ claimCount }) => claimCount), leaseUntil],
  });
  return new Set(rows.flatMap(({ number }) => runs[number - 1] ?? []));
}

/**
 * Returns whether a worker may cancel the remote task of its attempt. It may not when another worker has claimed the
 * same attempt, or will: a task belongs to an attempt, not to a worker. A postponed run releases its attempt, too.
 * Once such a run is aborted no other worker will claim it, and only the last one knows where the task is.
 */
export async function mayCancelAttempt(db: Db, run: RunClaim & Pick<Run, 'attempts'>): Promise<boolean> {
  const { rows } = await db.query<{ mayCancel: boolean }>({
    name: 'may_cancel_attempt',
    text: `select attempts > $3 or (claim_count = $2 and (attempts = $3 or state = 'aborted')) as "mayCancel"
           from runs where id = $1`,
    values: [run.id, run.claimCount, run.attempts],
  });
  // The run was pruned from the history, so it ended long ago.
  return rows[0]?.mayCancel ?? true;
}

export const saveProgress = (db: Db, run: RunClaim, progress: number): Promise<unknown> =>
  db.query({
    name: 'run_progress',
    text: `update runs set progress = greatest(progress, $2) where id = $1 and ${isHeld(3)}`,
    values: [run.id, progress, run.claimCount],
  });

/**
 * Stores where the task of a run can be cancelled, even if the run has been aborted since; null once it is cancelled.
 */
export const saveTaskLocation = (db: Db, run: RunClaim, location: string | null): Promise<unknown> =>
  db.query({
    name: 'run_task_location',
    text: `update runs set task_location = $3 where id = $1 and claim_count = $2 and state in ('active', 'aborted')`,
    values: [run.id, run.claimCount, location],
  });

/** Stores why the endpoint of an active run is unavailable, and since when; null when it is available. */
export const saveEndpointState = (
  db: Db,
  run: RunClaim,
  wait: { readonly reason: string; readonly since: Date } | null,
): Promise<unknown> =>
  db.query({
    name: 'endpoint_state',
    text: `update runs set reason = $3, unavailable_since = $4 where id = $1 and ${isHeld(2)}`,
    values: [run.id, run.claimCount, wait?.reason ?? null, wait?.since ?? null],
  });
