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

export function createDispatcher(deps: {
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
  /** Renews the leases of the runs of this process. */
  readonly renewLeases: () => Promise<void>;
  /** Called with runs that workers can claim through the API. */
  readonly onClaimable: (runs: readonly NewRun[]) => void;
}) {
  const { pool, queues, clock, metrics, log, concurrency, overdueGraceMs, misfireGraceMs } = deps;
  const report = createErrorReporter(log, 'Failed to dispatch runs: trying again');
  const reportQueue = createErrorReporter(log, 'Failed to announce runs to the queue: trying again');
  let timer: NodeJS.Timeout | undefined;
  /** When the timer wakes the dispatcher, epoch ms. */
  let timerAt = Infinity;
  let clockOffset = clock() - performance.now();
  /** Retries that were due by then have been announced, epoch ms. */
  let retriesAt = clock();

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

  function announce(runs: readonly NewRun[]): void {
    const pulled = runs.filter(({ worker }) => worker === 'pull');
    if (pulled.length > 0) deps.onClaimable(pulled);
    const counts = new Map<Connector, number>();
    for (const { connector, worker } of runs)
      if (worker !== 'pull') counts.set(connector, (counts.get(connector) ?? 0) + 1);
    if (counts.size > 0) queues.announce(counts).catch(reportQueue);
  }

  /** @returns whether there may be more. */
  async function dispatchSchedules(): Promise<boolean> {
    const now = clock();
    const { schedules, ticks, runs } = await inTransaction(pool, async (tx) => {
      const due = await lockDueSchedules(tx, new Date(now), PAGE);
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
    announce(runs.filter(({ state }) => state === 'waiting'));
    return schedules.length === PAGE;
  }

  /** @returns whether there may be more. */
  async function dispatchRings(): Promise<boolean> {
    const now = new Date(clock());
    const runs = await inTransaction(pool, async (tx) => {
      const rung = await lockRungSchedules(tx, now, PAGE);
      const given = rung.map((scheduleId) => ({ scheduleId, runId: uuidv7() }));
      return given.length === 0 ? [] : insertRungRuns(tx, given, now);
    });
    for (const run of runs) maybePruneRuns(pool, run);
    announce(runs);
    return runs.length === PAGE;
  }

  /** @returns whether there may be more. */
  async function recoverRuns(): Promise<boolean> {
    const now = clock();
    await followClock(now);
    const lost = await recoverLostRuns(pool, new Date(now), PAGE);
    for (const { id: runId, connector } of lost) {
      metrics.repairs.inc({ kind: 'lost_run' });
      log.warn({ runId, connector }, 'a run whose worker was lost waits for another one');
    }
    announce(lost);
    return lost.length === PAGE;
  }

  /** A round that fails, and one that finds a page of them, leave the rest to the sweep. */
  async function announceRetries(): Promise<void> {
    const now = clock();
    announce(await findDueRetries(pool, new Date(retriesAt), new Date(now), PAGE));
    retriesAt = now;
  }

  /** Announces every connector again that has runs to be claimed. */
  async function announceClaimable(): Promise<void> {
    const at = new Date(clock());
    const counts = await countClaimable(pool, { connectors, limit: concurrency, at });
    if (counts.size > 0) await queues.announce(counts).catch(reportQueue);
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

  /** A lease that ends only because the clock was set forward is renewed, so that its run is not taken for lost. */
  async function followClock(now: number): Promise<void> {
    const offset = now - performance.now();
    const isSetForward = offset - clockOffset > CLOCK_JUMP_MS;
    clockOffset = offset;
    if (isSetForward) await deps.renewLeases();
  }

  async function round(stopping: AbortSignal): Promise<void> {
    const startedAt = clock();
    pauses.wake();
    while (!stopping.aborted && (await recoverRuns()));
    await announceRetries();
    while (!stopping.aborted && (await dispatchSchedules()));
    while (!stopping.aborted && (await dispatchRings()));
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

  /** It goes on beside the rounds, which do not wait for the queue. */
  const sweep = createPeriodicTask({
    intervalMs: MAX_SLEEP_MS,
    run: announceClaimable,
    onError: (error) => {
      report(error as Error);
    },
  });

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
