import { type Connector, connectors } from '@platform/events';
import { type Clock, createPeriodicTask, inTransaction, type Logger } from '@platform/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { countClaimable } from '../db/claim-runs.js';
import {
  type DueTick,
  findDueRetries,
  findNextDue,
  insertTicks,
  lockDueSchedules,
  recoverLostRuns,
} from '../db/dispatch.js';
import { insertRungRuns, lockRungSchedules } from '../db/rung-runs.js';
import { maybePruneRuns } from '../db/prune-runs.js';
import type { NewRun } from '../db/runs.js';
import { resumePaused } from '../db/resume-schedule.js';
import { findPausesOver } from '../db/schedules.js';
import { createPlan, nextRunAfter } from '../domain/plan.js';
import { findSkipReason } from '../domain/run-state.js';
import type { Schedule } from '../domain/schedule.js';
import { createErrorReporter } from '../queue/error-reporter.js';
import type { CrawlQueues } from '../queue/queues.js';
import type { CrawlMetrics } from './metrics.js';

/*
 * The path from a schedule to a worker. The rows decide; the queue says which connectors have work.
 *
 *   schedule due   its run is inserted under the tick, which is unique, and `next_run_at` moves, in one transaction
 *   hook rung      its run is inserted, and `ring_due_at` cleared, in one transaction; it waits for the run in progress
 *   pause over     its schedule becomes active, as if it had been resumed at that time
 *   retry due      the back-off of a run is over
 *   worker lost    the claim of a run has expired: it waits again
 *
 * Each of them is announced to whoever can claim the run: in the queue of its connector, or to the organisation's workers
 * that pull. An announcement may be lost or come twice. Once a second, connectors are announced again that have runs to be
 * claimed and a free place, so a lost one costs a second.
 *
 * Every replica dispatches; rows that one of them has are skipped by the others. Between two rounds it sleeps until the next
 * row is due, at most a second, so that a clock that was set and a wake-up that was lost cost no more than that. No round
 * waits for the queue.
 */

/** A page is written in one statement, which has a second even on a busy server. */
const PAGE = 200;
const MAX_SLEEP_MS = 1_000;
/** A clock that is this much further than the time that has passed was set. */
const CLOCK_JUMP_MS = 5_000;

export interface DispatchContext {
  readonly pool: pg.Pool;
  readonly queues: Pick<CrawlQueues, 'announce'>;
  readonly clock: Clock;
  readonly metrics: Pick<CrawlMetrics, 'missed' | 'repairs'>;
  readonly log: Logger;
  /** The most active runs of a connector, over all replicas. */
  readonly concurrency: number;
  /** How late a run may be before its time counts as missed. */
  readonly overdueGraceMs: number;
  readonly misfireGraceMs: number;
  /** Called with runs that workers can claim through the API. */
  readonly onClaimable: (runs: readonly NewRun[]) => void;
  /** Called when an announcement failed. */
  readonly onQueueError: (error: Error) => void;
}

type TickContext = Pick<DispatchContext, 'overdueGraceMs' | 'misfireGraceMs'>;

function toTick({ overdueGraceMs, misfireGraceMs }: TickContext, schedule: Schedule, now: number): DueTick {
  const at = schedule.nextRunAt?.getTime() ?? now;
  const { scheduleType, missedRunPolicy } = schedule.config;
  const lateMs = now - at;
  const skipReason = findSkipReason(missedRunPolicy, lateMs, misfireGraceMs);
  // The run stands for every time that has passed; a skipped one does not stand for the times that may still start.
  const mayStillStart = skipReason === null ? 0 : misfireGraceMs + 1;
  const next =
    scheduleType === 'once'
      ? undefined
      : nextRunAfter(createPlan(schedule), Math.max(now - mayStillStart, at));
  return {
    runId: uuidv7(),
    scheduleId: schedule.id,
    nextRunAt: next === undefined ? null : new Date(next),
    skipReason,
    isMissed: lateMs > overdueGraceMs,
  };
}

function announce({ queues, onClaimable, onQueueError }: DispatchContext, runs: readonly NewRun[]): void {
  const pulled = runs.filter(({ worker }) => worker === 'pull');
  if (pulled.length > 0) onClaimable(pulled);
  const counts = new Map<Connector, number>();
  for (const { connector, worker } of runs)
    if (worker !== 'pull') counts.set(connector, (counts.get(connector) ?? 0) + 1);
  if (counts.size > 0) queues.announce(counts).catch(onQueueError);
}

/** Inserts the runs of a page of due schedules. @returns whether there may be more. */
async function dispatchSchedules(ctx: DispatchContext): Promise<boolean> {
  const { pool, clock, metrics, log } = ctx;
  const now = clock();
  const { schedules, ticks, runs } = await inTransaction(pool, async (tx) => {
    const due = await lockDueSchedules(tx, new Date(now), PAGE);
    const created = due.map((schedule) => toTick(ctx, schedule, now));
    return {
      schedules: due,
      ticks: created,
      runs: created.length === 0 ? [] : await insertTicks(tx, created, new Date(now)),
    };
  });
  const missed = new Set(runs.filter(({ trigger }) => trigger === 'missed').map(({ id }) => id));
  schedules.forEach((schedule, index) => {
    maybePruneRuns(pool, schedule);
    if (!missed.has(ticks[index]?.runId ?? '')) return;
    const { orgId, connector, instance, config, nextRunAt } = schedule;
    metrics.missed.inc({ connector, policy: config.missedRunPolicy });
    log.warn(
      { orgId, connector, instance, expected: nextRunAt },
      'a run was missed at its time: it is late, or skipped',
    );
  });
  announce(
    ctx,
    runs.filter(({ state }) => state === 'waiting'),
  );
  return schedules.length === PAGE;
}

/** Inserts the runs of a page of rung hooks. @returns whether there may be more. */
async function dispatchRings(ctx: DispatchContext): Promise<boolean> {
  const { pool, clock } = ctx;
  const now = new Date(clock());
  const runs = await inTransaction(pool, async (tx) => {
    const rung = await lockRungSchedules(tx, now, PAGE);
    const given = rung.map((scheduleId) => ({ scheduleId, runId: uuidv7() }));
    return given.length === 0 ? [] : insertRungRuns(tx, given, now);
  });
  for (const run of runs) maybePruneRuns(pool, run);
  announce(ctx, runs);
  return runs.length === PAGE;
}

/** Lets a page of runs whose workers were lost wait again. @returns whether there may be more. */
async function recoverRuns(ctx: DispatchContext): Promise<boolean> {
  const { pool, clock, metrics, log } = ctx;
  const lost = await recoverLostRuns(pool, new Date(clock()), PAGE);
  for (const { id: runId, connector } of lost) {
    metrics.repairs.inc({ kind: 'lost_run' });
    log.warn({ runId, connector }, 'a run whose worker was lost waits for another one');
  }
  announce(ctx, lost);
  return lost.length === PAGE;
}

/** Announces every connector again that has runs to be claimed. */
async function announceClaimable({ pool, queues, clock, concurrency, onQueueError }: DispatchContext) {
  const at = new Date(clock());
  const counts = await countClaimable(pool, { connectors, limit: concurrency, at });
  if (counts.size > 0) await queues.announce(counts).catch(onQueueError);
}

/**
 * Resumes a page of schedules whose pause is over, from the end of the pause on, however late this is.
 *
 * @returns how many.
 */
async function endPauses({ pool, clock }: DispatchContext): Promise<number> {
  const now = clock();
  const found = await findPausesOver(pool, new Date(now), PAGE);
  for (const paused of found)
    await resumePaused(pool, paused, {
      after: (paused.pausedUntil?.getTime() ?? now) - 1,
      now,
      act: null,
    });
  return found.length;
}

/** @param renewLeases - renews the leases of the runs of this process. */
export function createDispatcher(
  deps: Omit<DispatchContext, 'onQueueError'> & { readonly renewLeases: () => Promise<void> },
) {
  const { pool, clock, log, renewLeases } = deps;
  const ctx: DispatchContext = {
    ...deps,
    onQueueError: createErrorReporter(log, 'Failed to announce runs to the queue: trying again'),
  };
  const report = createErrorReporter(log, 'Failed to dispatch runs: trying again');
  const onError = (error: unknown) => report(error as Error);
  let timer: NodeJS.Timeout | undefined;
  /** When the timer wakes the dispatcher, epoch ms. */
  let timerAt = Infinity;
  let clockOffset = clock() - performance.now();
  /** Retries that were due by then have been announced, epoch ms. */
  let retriesAt = clock();

  /** A lease that ends only because the clock was set forward is renewed, so that its run is not taken for lost. */
  async function followClock(): Promise<void> {
    const offset = clock() - performance.now();
    const isSetForward = offset - clockOffset > CLOCK_JUMP_MS;
    clockOffset = offset;
    if (isSetForward) await renewLeases();
  }

  /** A round that fails, and one that finds a page of them, leave the rest to the sweep. */
  async function announceRetries(): Promise<void> {
    const now = clock();
    announce(ctx, await findDueRetries(pool, new Date(retriesAt), new Date(now), PAGE));
    retriesAt = now;
  }

  async function round(stopping: AbortSignal): Promise<void> {
    const startedAt = clock();
    pauses.wake();
    do await followClock();
    while (!stopping.aborted && (await recoverRuns(ctx)));
    await announceRetries();
    while (!stopping.aborted && (await dispatchSchedules(ctx)));
    while (!stopping.aborted && (await dispatchRings(ctx)));
    const next = await findNextDue(pool, new Date(startedAt));
    if (next !== undefined && !stopping.aborted) wakeAt(next);
  }

  /** A later time needs no timer: the round before it finds it. */
  function wakeAt(at: number): void {
    const sleepMs = Math.max(0, at - clock());
    if (sleepMs >= MAX_SLEEP_MS || at >= timerAt) return;
    clearTimeout(timer);
    timerAt = at;
    timer = setTimeout(() => {
      timerAt = Infinity;
      rounds.wake();
    }, sleepMs).unref();
  }

  const every = { intervalMs: MAX_SLEEP_MS, onError };
  const rounds = createPeriodicTask({ ...every, run: round });
  /** It goes on beside the rounds: thousands of pauses that end together do not delay what is due. */
  const pauses = createPeriodicTask({
    ...every,
    async run(stopping) {
      for (let count = PAGE; count === PAGE && !stopping.aborted;) {
        count = await endPauses(ctx);
        if (count > 0) rounds.wake();
      }
    },
  });
  /** It goes on beside the rounds, which do not wait for the queue. */
  const sweep = createPeriodicTask({ ...every, run: () => announceClaimable(ctx) });

  return {
    start(): void {
      rounds.start();
      rounds.wake();
      sweep.start();
      sweep.wake();
    },
    /** Dispatches what is due now. */
    run: rounds.run,
    /** Announces what can be claimed now. */
    sweep: sweep.run,
    /** Call this when something may be due now. */
    wake: rounds.wake,
    /** Call this when something is due at `at`, epoch ms. */
    wakeAt,
    async stop(): Promise<void> {
      clearTimeout(timer);
      await rounds.stop();
      await pauses.stop();
      await sweep.stop();
    },
  };
}

export type Dispatcher = ReturnType<typeof createDispatcher>;
