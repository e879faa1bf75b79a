import type { Connector } from '@platform/events';
import { type Clock, JsonText } from '@platform/service-kit';
import type pg from 'pg';
import { type ClaimedRow, claimWork } from '../../db/claim-runs.js';
import type { RunClaim, SliceResult } from '../../db/claimed-runs.js';
import { saveSource } from '../../db/sources.js';
import { continueRun, findWork, renewWork, type WorkClaim, type WorkRun } from '../../db/work.js';
import type { Actor } from '../../domain/act.js';
import { createLease, ENDPOINT_HOLDER, hashLease } from '../../domain/lease.js';
import { toRunProgress } from '../../domain/run-progress.js';
import { continueRefused, invalidCheckpoint, leaseLost, tooManyWaiting, workNotFound } from './errors.js';
import type {
  ClaimedWork,
  FinishBody,
  FinishResult,
  HeartbeatBody,
  HeartbeatResult,
  SliceState,
  WorkOrder,
} from './schemas.js';
import type { WaitingWorkers } from './waiting-workers.js';
import type { createWorkerSightings } from './worker-sightings.js';

/*
 * Workers that pull claim runs of their organisation's connectors, report with heartbeats, and finish slices. The lease
 * proves the claim, so nobody else changes the run, and neither does a worker that has lost it. Endpoints may report here, too,
 * with the lease of their order, but have no slices.
 */

const MAX_CHECKPOINT_BYTES = 65_536;

/** The lifecycle of a run; the same for all workers. */
export interface WorkLifecycle {
  readonly checkClaimed: (run: ClaimedRow) => Promise<ClaimedRow | undefined>;
  readonly complete: (run: WorkRun, result: SliceResult) => Promise<boolean>;
  readonly fail: (
    run: WorkRun,
    reason: string,
    ending?: { readonly isFinal?: boolean },
  ) => Promise<'retry' | 'failed' | 'void'>;
  readonly handBack: (run: RunClaim) => Promise<boolean>;
}

/** The request of a worker for a run. */
interface WorkRequest {
  readonly connectors: readonly Connector[];
  /** Undefined for all instances. */
  readonly instances: readonly string[] | undefined;
  readonly worker: string;
  /** The credential that claims: see `lease.ts`. */
  readonly holder: string;
}

export interface WorkKey {
  readonly orgId: string;
  readonly runId: string;
  /** The credential that reports: see `lease.ts`. */
  readonly holder: string;
  /** The connectors that the credential is limited to; undefined for none. */
  readonly connectors: readonly string[] | undefined;
}

const toClaim = (
  { orgId, runId, holder, connectors }: WorkKey,
  { lease }: { readonly lease: string },
): WorkClaim => ({
  id: runId,
  orgId,
  connectors,
  leaseHashes: [hashLease(lease, holder), hashLease(lease, ENDPOINT_HOLDER)],
});

const toOrder = ({ parameters, ...run }: ClaimedRow): WorkOrder => ({
  runId: run.id,
  attempt: run.attempts,
  orgId: run.orgId,
  connector: run.connector,
  instance: run.instance,
  displayName: parameters.displayName,
  userId: parameters.userId,
  scheduleConfig: parameters.config,
  priority: parameters.priority,
  metadata: parameters.metadata ?? {},
  scheduledFor: run.scheduledFor.toISOString(),
  mode: run.mode,
  fullStartedAt: run.fullStartedAt?.toISOString() ?? null,
  checkpoint: run.checkpoint === null ? null : new JsonText(run.checkpoint),
});

/** What a worker reports, with its checkpoint as the text that it sent. */
type Exact<Body extends HeartbeatBody> = Omit<Body, 'checkpoint'> & {
  readonly checkpoint?: string | undefined;
};

/** @throws AppError 400. */
function checkCheckpoint(checkpoint: string | undefined): void {
  if (checkpoint === undefined) return;
  if (checkpoint === 'null') throw invalidCheckpoint('must not be null: leave it out');
  if (Buffer.byteLength(checkpoint) > MAX_CHECKPOINT_BYTES)
    throw invalidCheckpoint(`must not be larger than ${MAX_CHECKPOINT_BYTES} bytes of JSON`);
}

/** @throws AppError 400 for what an endpoint cannot report. */
function checkReport(
  { worker }: Pick<WorkRun, 'worker'>,
  body: { readonly checkpoint?: unknown; readonly state?: SliceState },
): void {
  if (worker === 'pull') return;
  if (body.state === 'continue') throw continueRefused();
  if (body.checkpoint !== undefined) throw invalidCheckpoint('must be left out: an endpoint has no slices');
}

const isReport = ({ progress, checkpoint, counters, log, source }: Exact<HeartbeatBody>): boolean =>
  [progress, checkpoint, counters, log, source].some((value) => value !== undefined);

/** What workers that pull are served with. */
export interface WorkContext {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly lifecycle: WorkLifecycle;
  readonly leaseMs: number;
  readonly waiting: WaitingWorkers;
  /** Stores which connectors workers ask for. */
  readonly recordSighting: ReturnType<typeof createWorkerSightings>;
  /** Called when another worker can claim a run of the organisation. */
  readonly onClaimable: (run: Pick<WorkRun, 'orgId'>) => void;
}

const getLeaseEnd = ({ clock, leaseMs }: WorkContext) => new Date(clock() + leaseMs);

async function claimDueRun(
  ctx: WorkContext,
  orgId: string,
  { connectors, instances, worker, holder }: WorkRequest,
) {
  const { clock, pool, lifecycle } = ctx;
  for (;;) {
    const now = clock();
    const leaseUntil = getLeaseEnd(ctx);
    const run = await claimWork(pool, {
      orgId,
      connectors,
      instances,
      worker,
      at: new Date(now),
      leaseUntil,
      lease: createLease(),
      holder,
    });
    if (!run) return undefined;
    const deadline = run.deadlineAt ?? leaseUntil;
    if (deadline.getTime() <= now) {
      // The worker before had vanished or gone on for too long.
      const work = await findWork(pool, { id: run.id, orgId });
      if (work) await lifecycle.fail(work, `Timed out after ${run.parameters.timeoutMs} ms`);
    } else if (await lifecycle.checkClaimed(run)) return { run, leaseUntil, deadline };
  }
}

async function findHeld({ pool }: WorkContext, claim: WorkClaim): Promise<WorkRun> {
  const run = await findWork(pool, claim);
  if (!run) throw workNotFound();
  if (run.state !== 'active' || !run.isClaimant) throw leaseLost();
  return run;
}

/** Renews the lease and stores what is reported. @returns as {@link renewWork}. */
async function renewLease(
  ctx: WorkContext,
  claim: WorkClaim,
  body: Exact<HeartbeatBody>,
): Promise<Date | null | undefined> {
  const { pool, clock } = ctx;
  const leaseUntil = await renewWork(pool, claim, {
    at: new Date(clock()),
    leaseUntil: getLeaseEnd(ctx),
    progress: body.progress === undefined ? undefined : toRunProgress(body.progress),
    counters: body.counters,
    checkpoint: body.checkpoint,
    log: body.log ?? [],
  });
  if (leaseUntil !== undefined && body.source) await saveSource(pool, claim, body.source);
  return leaseUntil;
}

async function endSlice(
  { clock, lifecycle, pool }: WorkContext,
  run: WorkRun,
  body: Exact<FinishBody>,
): Promise<boolean> {
  const { counters } = body;
  const at = new Date(clock());
  if (body.state === 'completed') return lifecycle.complete(run, { counters: counters ?? run.sliceCounters });
  if (body.state === 'released') return lifecycle.handBack(run);
  if (body.state === 'continue' && run.isCheckpointNew) return continueRun(pool, run, at, { counters });
  const reason =
    body.state === 'continue'
      ? 'The slice ended without a new checkpoint'
      : (body.reason ?? 'The crawl failed');
  const isFinal = body.state === 'failed' && body.retry === false;
  return (await lifecycle.fail(run, reason, { isFinal })) !== 'void';
}

/**
 * Claims a run that is due; waits for one if none is.
 *
 * @param signal - aborted when the worker is gone: a run is then left to others.
 * @returns undefined when there is none. @throws AppError 429.
 */
export async function claimNextRun(
  ctx: WorkContext,
  orgId: string,
  given: WorkRequest & { readonly waitMs: number; readonly actor: Actor },
  signal: AbortSignal,
): Promise<ClaimedWork | undefined> {
  const { recordSighting, waiting, lifecycle, onClaimable } = ctx;
  const until = performance.now() + given.waitMs;
  await recordSighting({ orgId, ...given }, given.connectors, given.instances);
  for (;;) {
    // The waiting begins before the look, so that no run is made in between.
    if (given.waitMs > 0 && !waiting.hasRoom(orgId)) throw tooManyWaiting();
    const stop = new AbortController();
    const woken = waiting.wait(orgId, until - performance.now(), AbortSignal.any([signal, stop.signal]));
    let found: Awaited<ReturnType<typeof claimDueRun>>;
    try {
      found = await claimDueRun(ctx, orgId, given);
    } catch (error) {
      stop.abort();
      throw error;
    }
    if (found) {
      stop.abort();
      if (signal.aborted) {
        await lifecycle.handBack(found.run);
        onClaimable(found.run);
        return undefined;
      }
      return {
        order: toOrder(found.run),
        lease: found.run.lease,
        leaseUntil: found.leaseUntil.toISOString(),
        deadline: found.deadline.toISOString(),
      };
    }
    if (!(await woken)) return undefined;
  }
}

/** Renews the lease and stores what the worker reports. @throws AppError 409 `LEASE_LOST`: nothing was stored. */
export async function recordHeartbeat(
  ctx: WorkContext,
  key: WorkKey,
  body: Exact<HeartbeatBody>,
): Promise<HeartbeatResult> {
  const { clock, pool } = ctx;
  checkCheckpoint(body.checkpoint);
  const claim = toClaim(key, body);
  const leaseUntil = await renewLease(ctx, claim, body);
  if (leaseUntil !== undefined)
    return {
      leaseUntil: (leaseUntil ?? new Date(clock())).toISOString(),
      cancelled: leaseUntil === null,
    };
  const run = await findWork(pool, claim);
  if (!run) throw workNotFound();
  checkReport(run, body);
  throw leaseLost();
}

/**
 * Ends a slice; repeating it changes nothing.
 *
 * @throws AppError 409 `LEASE_LOST`, also when the run was aborted; what is reported about that is kept, as in a heartbeat.
 */
export async function finishSlice(
  ctx: WorkContext,
  key: WorkKey,
  body: Exact<FinishBody>,
): Promise<FinishResult> {
  const { pool, onClaimable } = ctx;
  const claim = toClaim(key, body);
  checkCheckpoint(body.checkpoint);
  const before = await findWork(pool, claim);
  if (!before) throw workNotFound();
  if (!before.isFinisher) {
    checkReport(before, body);
    // What is reported is kept whatever the state: a failed attempt goes on from its checkpoint.
    if (isReport(body) && (await renewLease(ctx, claim, body)) === undefined) throw leaseLost();
    if (!(await endSlice(ctx, await findHeld(ctx, claim), body))) throw leaseLost();
  }
  const run = await findWork(pool, claim);
  if (!run) throw workNotFound();
  if (run.state === 'waiting') onClaimable(run);
  return { state: run.state };
}
