import { type Clock, createPeriodicTask, inTransaction, type Logger } from '@platform/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import {
  type DispatchScope,
  type DueTick,
  findNextDue,
  freeHeldBackRuns,
  insertTicks,
  lockDueSchedules,
  markUnqueued,
  requeueAll,
  takeDueRuns,
} from '../db/dispatch.js';
import { insertRungRuns, lockRungSchedules } from '../db/rung-runs.js';
import { maybePruneRuns } from '../db/prune-runs.js';
import type { DueRun } from '../db/runs.js';
import { resumePaused } from '../db/resume-schedule.js';
import { findPausesOver } from '../db/schedules.js';
import { createPlan, nextRunAfter } from '../domain/plan.js';
import { findSkipReason } from '../domain/run-state.js';
import type { Schedule } from '../domain/schedule.js';
import { createErrorReporter } from '../queue/error-reporter.js';
import type { CrawlQueues } from '../queue/queues.js';
import type { CrawlMetrics } from './metrics.js';

/*
 * The road from a schedule to a worker. The rows decide; the queue carries runs.
 *
 *   schedule due   its run is inserted under the tick, which is unique, and `next_run_at` moves, in one transaction
 *   hook rung      its run is inserted, and `ring_due_at` cleared, in one transaction; it waits for the run in progress
 *   pause over     its schedule becomes active, as if it had been resumed at that time
 *   run due        a retry, a postponed run, a run of a lost worker or one whose job the queue may have lost
 *   run held back  due once no other run of the organisation's instances of the connector is in the queue
 *
 * Runs are then added to the queue, under an id that is the run's and the claim's: adding a job twice is adding it once.
 * A run that could not be added is due again at once. Every replica dispatches; rows that one of them has are skipped by
 * the others. Between two rounds it sleeps until the next row is due, at most a second, so that a clock that was set and a
 * wake-up that was lost cost no more than that.
 */

/** A page is written in one statement, which has a second even on a busy server. */
const PAGE = 200;
const MAX_SLEEP_MS = 1_000;
/** A data loss is looked for this often. */
const LOSS_CHECK_MS = 1_000;
/** A clock that is this much further than the time that has passed was set. */
const CLOCK_JUMP_MS = 5_000;

export function createDispatcher(deps: {
  readonly pool: pg.Pool;
  readonly queues: Pick<CrawlQueues, 'add' | 'ping' | 'limitConcurrency' | 'afterDataLoss'>;
  readonly clock: Clock;
  readonly metrics: Pick<CrawlMetrics, 'missed' | 'repairs'>;
  readonly log: Logger;
  /** How late a run may be before its time counts as missed. */
  readonly overdueGraceMs: number;
  readonly misfireGraceMs: number;
  /** Renews the leases of the runs of this process. */
  readonly renewLeases: () => Promise<void>;
  /** Called with runs that workers can claim through the API. */
  readonly onClaimable: (runs: readonly DueRun[]) => void;
}) {
  const { pool, queues, clock, metrics, log, overdueGraceMs, misfireGraceMs, renewLeases, onClaimable } =
    deps;
  const report = createErrorReporter(log, 'Failed to dispatch runs: trying again');
  let timer: NodeJS.Timeout | undefined;
  /** When the timer wakes the dispatcher, epoch ms. */
  let timerAt = Infinity;
  let checkedAt = -Infinity;
  let isLimited = false;
  let isHoldingBack = false;
  let clockOffset = clock() - performance.now();

  function toTick(schedule: Schedule, now: number): DueTick {
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

  /** Delivers runs, oldest first, except held-back ones. */
  async function deliver(given: readonly DueRun[]): Promise<void> {
    const runs = given.filter(({ isHeldBack }) => !isHeldBack);
    if (runs.length < given.length) isHoldingBack = true;
    const pulled = runs.filter(({ worker }) => worker === 'pull');
    if (pulled.length > 0) onClaimable(pulled);
    const queued = runs.filter(({ worker }) => worker !== 'pull');
    if (queued.length === 0) return;
    try {
      await queues.add(queued);
    } catch (error) {
      await markUnqueued(pool, queued, new Date(clock()));
      throw error;
    }
  }

  /** @returns whether there may be more. */
  async function dispatchSchedules(scope: DispatchScope): Promise<boolean> {
    const now = clock();
    const { schedules, ticks, runs } = await inTransaction(pool, async (tx) => {
      const due = await lockDueSchedules(tx, new Date(now), PAGE, scope);
      const made = due.map((schedule) => toTick(schedule, now));
      return {
        schedules: due,
        ticks: made,
        runs: made.length === 0 ? [] : await insertTicks(tx, made, new Date(now)),
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
    await deliver(runs.filter(({ state }) => state === 'waiting'));
    return schedules.length === PAGE;
  }

  /** @returns whether there may be more. */
  async function dispatchRings(scope: DispatchScope): Promise<boolean> {
    const now = new Date(clock());
    const runs = await inTransaction(pool, async (tx) => {
      const rung = await lockRungSchedules(tx, now, PAGE, scope);
      const given = rung.map((scheduleId) => ({ scheduleId, runId: uuidv7() }));
      return given.length === 0 ? [] : insertRungRuns(tx, given, now);
    });
    for (const run of runs) maybePruneRuns(pool, run);
    await deliver(runs);
    return runs.length === PAGE;
  }

  /** @returns whether there may be more. */
  async function dispatchRuns(scope: DispatchScope): Promise<boolean> {
    const now = clock();
    await followClock(now);
    const found = await takeDueRuns(pool, new Date(now), PAGE, scope);
    for (const { id: runId, connector, was } of found) {
      if (was !== 'lost') continue;
      metrics.repairs.inc({ kind: 'lost_run' });
      log.warn({ runId, connector }, 'delivered a run again whose worker was lost');
    }
    await deliver(found.filter(({ was }) => was !== 'alive'));
    return found.length === PAGE;
  }

  /** Resumes the schedules whose pause is over, from the end of the pause on, however late this is. */
  async function endPauses(stopping: AbortSignal): Promise<void> {
    for (let count = PAGE; count === PAGE && !stopping.aborted;) {
      const now = clock();
      const found = await findPausesOver(pool, new Date(now), PAGE);
      for (const paused of found)
        await resumePaused(pool, paused, {
          after: (paused.pausedUntil?.getTime() ?? now) - 1,
          now,
          act: null,
        });
      count = found.length;
      if (count > 0) rounds.wake();
    }
  }

  /** Makes every run due whose job was lost with the queue's data. */
  async function recoverQueue(stopping: AbortSignal): Promise<void> {
    if (performance.now() - checkedAt < LOSS_CHECK_MS) return;
    await queues.afterDataLoss(async () => {
      await queues.limitConcurrency();
      for (let count = PAGE; count === PAGE;) {
        if (stopping.aborted) return false;
        count = await requeueAll(pool, new Date(clock()), PAGE);
        metrics.repairs.inc({ kind: 'lost_job' }, count);
      }
      return true;
    });
    checkedAt = performance.now();
  }

  /** @throws Error while the queue is unavailable. */
  async function prepareQueue(stopping: AbortSignal): Promise<void> {
    await queues.ping();
    if (!isLimited) await queues.limitConcurrency();
    isLimited = true;
    await recoverQueue(stopping);
  }

  async function dispatch(stopping: AbortSignal, scope: DispatchScope): Promise<void> {
    if (scope === 'all') isHoldingBack = await freeHeldBackRuns(pool, new Date(clock()));
    while (!stopping.aborted && (await dispatchRuns(scope)));
    while (!stopping.aborted && (await dispatchSchedules(scope)));
    while (!stopping.aborted && (await dispatchRings(scope)));
  }

  /** A lease that ends only because the clock was set forward is renewed, so that its run is not taken for lost. */
  async function followClock(now: number): Promise<void> {
    const offset = now - performance.now();
    const isSetForward = offset - clockOffset > CLOCK_JUMP_MS;
    clockOffset = offset;
    if (isSetForward) await renewLeases();
  }

  async function round(stopping: AbortSignal): Promise<void> {
    const startedAt = clock();
    pauses.wake();
    try {
      await prepareQueue(stopping);
    } catch (error) {
      // Only what needs no queue is dispatched: what else becomes due meanwhile stays a row that is due.
      await dispatch(stopping, 'pull');
      throw error;
    }
    await dispatch(stopping, 'all');
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

  /** It goes on beside the rounds: thousands of pauses that end together do not delay what is due. */
  const pauses = createPeriodicTask({
    intervalMs: MAX_SLEEP_MS,
    run: endPauses,
    onError: (error) => {
      report(error as Error);
    },
  });

  const rounds = createPeriodicTask({
    intervalMs: MAX_SLEEP_MS,
    run: round,
    onError: (error) => {
      report(error as Error);
    },
  });

  return {
    start(): void {
      rounds.start();
      rounds.wake();
    },
    /** Dispatches what is due now. */
    run: rounds.run,
    /** Call this when something may be due now. */
    wake: rounds.wake,
    /** Call this when a run has left the queue: a held-back run may be due. */
    free(): void {
      if (isHoldingBack) rounds.wake();
    },
    /** Call this when something is due at `at`, epoch ms. */
    wakeAt,
    async stop(): Promise<void> {
      clearTimeout(timer);
      await rounds.stop();
      await pauses.stop();
    },
  };
}

export type Dispatcher = ReturnType<typeof createDispatcher>;
