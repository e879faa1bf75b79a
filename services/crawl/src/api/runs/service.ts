import { findEvent } from '@platform/events';
import { currentTraceparent, type ListPage, readListPage } from '@platform/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Actor } from '../../domain/act.js';
import { cancelRun } from '../../db/cancel-run.js';
import { findEndpoint, findEndpointIds } from '../../db/endpoints.js';
import { maybePruneRuns } from '../../db/prune-runs.js';
import {
  countRuns,
  findRun,
  findRunById,
  findRunLog,
  findRuns,
  type RunHistoryRow,
} from '../../db/run-history.js';
import { hasRunInProgress, insertRequestedRun, type RequestedRun as RequestedRunRow } from '../../db/runs.js';
import { findSchedule } from '../../db/schedules.js';
import { addCounters, type Counters } from '../../domain/counters.js';
import type { InstanceKey, RunKey } from '../../domain/instance-key.js';
import type { ApiContext } from '../context.js';
import { runInProgress } from '../schedules/errors.js';
import { runEnded, runNotFound, schedulePaused } from './errors.js';
import type { ConnectorFilter } from '../authority.js';
import type { Attempt, RequestedRun, RunDetail, RunItem, RunsQuery } from './schemas.js';

const toRunItem = (run: RunHistoryRow): RunItem => ({
  runId: run.id,
  connector: run.connector,
  instance: run.instance,
  trigger: run.trigger,
  outcome: run.state,
  scheduledFor: run.scheduledFor.toISOString(),
  startedAt: run.startedAt?.toISOString() ?? null,
  finishedAt: run.finishedAt?.toISOString() ?? null,
  attempts: run.attempts,
  progress: run.progress,
  reason: run.reason,
  eventId: run.eventId,
  worker: run.worker,
  mode: run.mode,
  slices: run.slices,
  ...addCounters(run.counters as Partial<Counters>, run.sliceCounters as Partial<Counters>),
  requestedBy: run.requestedBy === null ? null : { id: run.requestedBy, name: run.requestedByName ?? '' },
  waitingSince: run.unavailableSince?.toISOString() ?? null,
  claimedBy: run.claimedBy,
  claimedAt: run.claimedAt?.toISOString() ?? null,
  leaseUntil: run.state === 'active' ? ((run.heartbeatUntil ?? run.dueAt)?.toISOString() ?? null) : null,
});

/** An attempt that another one, or the next slice, has followed. */
interface EndedAttempt {
  readonly slice: number;
  readonly number: number;
  /** Epoch ms. */
  readonly startedAt: number | null;
  readonly endedAt: number;
  /** Why it failed; null when it did its slice. */
  readonly reason: string | null;
}

const toIso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

function listAttempts(run: RunHistoryRow): Attempt[] {
  const ended = run.endedAttempts as unknown as readonly EndedAttempt[];
  const attempts: Attempt[] = ended.map(({ startedAt, endedAt, ...attempt }) => ({
    ...attempt,
    outcome: attempt.reason === null ? 'completed' : 'failed',
    startedAt: toIso(startedAt),
    endedAt: toIso(endedAt),
  }));
  const slice = run.state === 'completed' ? Math.max(1, run.slices) : run.slices + 1;
  const newest = ended.at(-1);
  // Between two attempts, the last one is already in the list of ended ones.
  if (run.attempts === 0 || (newest?.slice === slice && newest.number === run.attempts)) return attempts;
  const last = {
    slice,
    number: run.attempts,
    outcome: run.state,
    startedAt: (run.attemptStartedAt ?? run.startedAt)?.toISOString() ?? null,
    endedAt: run.finishedAt?.toISOString() ?? null,
    reason: run.reason,
  };
  return [...attempts, last];
}

/** Returns one run with its attempts and its event. @throws AppError 404. */
export async function getRun({ prisma, pool }: ApiContext, key: RunKey): Promise<RunDetail> {
  const run = await findRun(prisma, key);
  if (!run) throw runNotFound();
  const { orgId } = key;
  const { eventId, endpointId } = run;
  const event = eventId === null ? undefined : await findEvent(pool, { orgId, eventId });
  const endpoint = endpointId === null ? undefined : await findEndpoint(pool, { orgId, endpointId });
  return {
    ...toRunItem(run),
    requestedAt: run.createdAt.toISOString(),
    maxAttempts: run.maxAttempts,
    endpoint: endpoint ? { id: endpoint.id, name: endpoint.description || endpoint.url } : null,
    attemptLog: listAttempts(run),
    log: (await findRunLog(prisma, run.id)).map(({ at, message }) => ({ at: at.toISOString(), message })),
    event: event ? { ...event, payload: { ...event.payload } } : null,
  };
}

async function refuseRequest({ pool }: ApiContext, key: InstanceKey): Promise<undefined> {
  const schedule = await findSchedule(pool, key);
  if (!schedule) return undefined;
  throw schedule.state === 'paused' ? schedulePaused() : runInProgress();
}

/** Finds a run of any connector that passes the filter. @throws AppError 404. */
export async function findRunOfAnyConnector(
  { prisma }: ApiContext,
  key: Pick<RunKey, 'runId' | 'orgId'>,
  canUse: ConnectorFilter,
): Promise<RunItem> {
  const run = await findRunById(prisma, key);
  if (!run || !canUse(run.connector)) throw runNotFound();
  return toRunItem(run);
}

/** Makes a run beside the scheduled ones. @returns undefined without a schedule. @throws AppError 409. */
export async function requestRun(
  ctx: ApiContext,
  key: InstanceKey,
  {
    actor,
    ...given
  }: Pick<RequestedRunRow, 'requestId' | 'mode' | 'requestedBy'> & {
    readonly actor: Actor;
  },
): Promise<RequestedRun | undefined> {
  const { pool, clock, onClaimable } = ctx;
  // A client that asks repeatedly is refused at once, without waiting for the schedule's row lock.
  if (await hasRunInProgress(pool, key)) throw runInProgress();
  const schedule = await findSchedule(pool, key);
  if (!schedule) return undefined;
  if (schedule.state === 'paused') throw schedulePaused();
  const at = new Date(clock());
  const runId = uuidv7();
  const run = await insertRequestedRun(
    pool,
    { id: runId, scheduleId: schedule.id, at, traceparent: currentTraceparent(), ...given },
    { actor, at, detail: { mode: given.mode ?? null } },
  );
  // Another run, a pause or a removal was committed first.
  if (!run) return refuseRequest(ctx, key);
  onClaimable(run);
  maybePruneRuns(pool, key);
  return { runId, connector: key.connector, requestedAt: at.toISOString() };
}

/** Aborts a run in progress; the schedule continues. @throws AppError 404; 409 when the run has ended. */
export async function cancelRunInProgress(ctx: ApiContext, key: RunKey, actor: Actor): Promise<RunDetail> {
  const { clock, pool } = ctx;
  const at = new Date(clock());
  const isCancelled = await cancelRun(pool, key, at, { actor, at });
  const run = await getRun(ctx, key);
  if (!isCancelled) throw runEnded();
  maybePruneRuns(pool, key);
  return run;
}

/** Lists the history, newest first. It outlives the schedule. */
export async function listRuns(
  { pool, prisma }: ApiContext,
  key: InstanceKey,
  query: RunsQuery,
): Promise<ListPage<RunItem>> {
  const text = query.q?.trim() || undefined;
  const endpointIds = text === undefined ? [] : await findEndpointIds(pool, key.orgId, text);
  const filter = { ...key, state: query.outcome, text, endpointIds };
  return readListPage(query, {
    count: () => countRuns(prisma, filter),
    find: (window) => findRuns(prisma, filter, window),
    toItem: toRunItem,
  });
}
