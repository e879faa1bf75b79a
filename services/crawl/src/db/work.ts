import type pg from 'pg';
import type { Act } from '../domain/act.js';
import type { Counters } from '../domain/counters.js';
import type { InstanceKey } from '../domain/instance-key.js';
import type { RunState } from '../domain/run-state.js';
import { type ClaimedRow, fullStartedAt } from './claim-runs.js';
import { addSliceCounters, type RunClaim, type SliceResult, withAttempt } from './claimed-runs.js';
import { auditedInstance, insertAudit, toAudit } from './facts.js';
import { inProgress, instanceValues, isSameInstance, ofInstance, runColumns } from './runs.js';
import type { Db } from './transaction.js';

/*
 * The statements for workers that claim runs through the API, and for endpoints that report there. Every statement names the
 * organisation.
 */

/** A run of an organisation. */
export interface WorkKey {
  readonly id: string;
  readonly orgId: string;
}
/** A claim of a run, as a worker proves it: one of the hashes is that of its lease. */
export interface WorkClaim extends WorkKey {
  readonly leaseHashes: readonly Buffer[];
  /** The connectors that the credential is limited to; undefined for none. */
  readonly connectors?: readonly string[] | undefined;
}
const isClaim = (leaseHash: string) => `coalesce(${leaseHash} = any($3::bytea[]), false)`;

/** Whether nothing has followed the aborted run that its checkpoint would be wrong for. */
const isCheckpointOwner = `exists (select from schedules s where s.id = runs.schedule_id) and not exists (
  select from runs later where ${isSameInstance('later', 'runs')} and later.id > runs.id and later.claim_count > 0)`;

/** The most lines of log that are kept of a run. */
const MAX_LOG_LINES = 1_000;

/**
 * Renews the lease, until the attempt times out, and stores what the worker reports. Endpoints have no checkpoints.
 *
 * The worker of a run that was aborted learns of it by reporting, so that report is stored as well: all of it or nothing. Its
 * checkpoint is refused once the schedule was removed, or a later run has gone on from the one before.
 *
 * @returns the lease's new end, null for an aborted run; undefined when nothing was stored.
 */
export async function renewWork(
  db: Db,
  claimed: WorkClaim,
  given: {
    readonly at: Date;
    readonly leaseUntil: Date;
    readonly progress: number | undefined;
    readonly counters: Partial<Counters> | undefined;
    /** JSON. */
    readonly checkpoint: string | undefined;
    readonly log: readonly string[];
  },
): Promise<Date | null | undefined> {
  const { rows } = await db.query<{ leaseUntil: Date | null }>({
    name: 'renew_work',
    text: `with renewed as (
             update runs set heartbeat_until = case when state = 'active' then least($5::timestamptz, deadline_at) end,
               progress = greatest(progress, $6::int), slice_counters = coalesce($7::jsonb, slice_counters),
               is_checkpoint_new = is_checkpoint_new or ($8::text is not null and not exists (
                 select from connector_states c where ${isSameInstance('c', 'runs')} and c.checkpoint = $8))
             where id = $1 and org_id = $2 and ($10::text[] is null or connector = any($10)) and ${isClaim('lease_hash')} and ($8::text is null or worker = 'pull')
               and (state = 'active' and deadline_at > $4 or state = 'aborted' and ($8::text is null or ${isCheckpointOwner}))
             returning id, org_id, connector, instance, heartbeat_until
           ), saved as (
             insert into connector_states as c (org_id, connector, instance, checkpoint, version)
             select org_id, connector, instance, $8::text, 1 from renewed where $8::text is not null
             on conflict (org_id, connector, instance) do update set checkpoint = excluded.checkpoint, version = c.version + 1
             where c.checkpoint is distinct from excluded.checkpoint
           ), kept as (
             select count(*)::int as count from run_log where run_id = $1
           ), logged as (
             insert into run_log (run_id, number, at, message)
             select renewed.id, kept.count + line.number, $4, line.message
             from renewed, kept, unnest($9::text[]) with ordinality as line (message, number)
             where kept.count + line.number <= ${MAX_LOG_LINES} on conflict do nothing
           )
           select heartbeat_until as "leaseUntil" from renewed`,
    values: [
      claimed.id,
      claimed.orgId,
      claimed.leaseHashes,
      given.at,
      given.leaseUntil,
      given.progress ?? null,
      given.counters === undefined ? null : JSON.stringify(given.counters),
      given.checkpoint ?? null,
      given.log,
      claimed.connectors ?? null,
    ],
  });
  return rows[0]?.leaseUntil;
}

export type WorkRun = Pick<
  ClaimedRow,
  | keyof InstanceKey | 'id' | 'claimCount' | 'scheduleId' | 'revision' | 'trigger' | 'worker' | 'parameters' | 'mode'
  | 'counters' | 'fullStartedAt' | 'attempts' | 'maxAttempts' | 'deadlineAt'
> & {
  readonly state: RunState;
  readonly sliceCounters: Partial<Counters>;
  /** Whether one of the hashes is that of the lease of the last claim. */
  readonly isClaimant: boolean;
  /** Whether one of the hashes is that of the lease of the claim whose slice was finished last. */
  readonly isFinisher: boolean;
  /** Whether the checkpoint has changed since the slice began. */
  readonly isCheckpointNew: boolean;
}; // oxfmt-ignore

/** Returns a run, in any state, whose lease need not be valid. */
export async function findWork(
  db: pg.Pool,
  { id, orgId, leaseHashes = [], connectors }: WorkKey & Partial<WorkClaim>,
): Promise<WorkRun | undefined> {
  const { rows } = await db.query<WorkRun>({
    name: 'find_work',
    text: `select ${runColumns('r')}, r.counters, r.slice_counters as "sliceCounters",
             ${isClaim('r.lease_hash')} as "isClaimant", ${isClaim('r.finished_lease_hash')} as "isFinisher",
             r.is_checkpoint_new as "isCheckpointNew",
             ${fullStartedAt('r')}
           from runs r left join connector_states c on ${isSameInstance('c', 'r')}
           where r.id = $1 and r.org_id = $2 and ($4::text[] is null or r.connector = any($4))`,
    values: [id, orgId, leaseHashes, connectors ?? null],
  });
  return rows[0];
}

/** Ends a slice that more will follow: the run waits behind the others, with its attempts fresh. */
export async function continueRun(
  db: Db,
  claimed: WorkKey & RunClaim,
  at: Date,
  { counters }: Pick<SliceResult, 'counters'>,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'continue_run',
    text: `update runs set state = 'waiting', attempts = 0, recoveries = 0, reason = null, due_at = $4,
             deadline_at = null, ended_attempts = ${withAttempt('$4', 'null')}, ${addSliceCounters('$5')}
           where id = $1 and org_id = $2 and claim_count = $3 and state = 'active'`,
    values: [
      claimed.id,
      claimed.orgId,
      claimed.claimCount,
      at,
      counters === undefined ? null : JSON.stringify(counters),
    ],
  });
  return rowCount === 1;
}

/**
 * Forgets what the instance's runs have left for the next one, which is then full and starts from nothing. The worker of an
 * aborted run can no longer report.
 *
 * @returns false, and forgets nothing, while a run is in progress: its end would store the rest of what it had begun.
 */
export async function resetConnectorState(db: Db, key: InstanceKey, act: Act | null): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'reset_connector_state',
    text: `with run as (
             select from runs where ${ofInstance} and ${inProgress}
           ), forgotten as (
             update runs set lease_hash = null where ${ofInstance} and state = 'aborted' and lease_hash is not null returning id
           ), reset as (
             -- Counting locks the runs first, as every statement does: a report could deadlock with this otherwise.
             update connector_states set checkpoint = null, last_full_at = null, full_started_at = null, version = version + 1
             where ${ofInstance} and not exists (select from run) and (select count(*) from forgotten) >= 0
             returning org_id, connector, instance
           ), audited as (${insertAudit(auditedInstance('reset', 'null::uuid'), '$4')})
           select from run`,
    values: [...instanceValues(key), toAudit('crawl_checkpoint.reset', act)],
  });
  return rowCount === 0;
}

/** Wakes the workers of organisations that wait for a run, on every replica. */
export const notifyWork = (db: pg.Pool, orgIds: readonly string[]): Promise<unknown> =>
  db.query({
    name: 'notify_work',
    text: 'select pg_notify($1, org_id) from unnest($2::text[]) as org_id',
    values: [WORK_CHANNEL, orgIds],
  });

export const WORK_CHANNEL = 'crawl_work';
