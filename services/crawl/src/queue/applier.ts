import { type Clock, createPeriodicTask, type Logger } from '@platform/service-kit';
import type pg from 'pg';
import type { Counter } from 'prom-client';
import {
  claimUnapplied,
  moveNextRunEarlier,
  markAllUnapplied,
  markApplied,
  postponeApplying,
  type Unapplied,
} from '../db/unapplied-schedules.js';
import { nextRunAfter, createPlan } from '../domain/plan.js';
import { createErrorReporter } from './error-reporter.js';
import type { CrawlQueues } from './queues.js';

/*
 * Brings the queue up to date with the rows. A change of a schedule is a change of its row; the queue is updated after the
 * commit. What the queue has to hold depends on the row's state alone:
 *
 *   active              the job scheduler, or the one job, of the row's revision
 *   paused, finished    nothing
 *   removed             nothing; the row is then deleted
 *
 * A row is applied (`apply_at` is null: the queue is up to date) or not:
 *
 *   applied    ─ changed: schedule, pause, resume, remove ─► unapplied, due    under a new revision
 *   applied    ─ the queue's server lost its data ─────────► unapplied, due    under the same revision
 *   unapplied, due    ─ claimed by a replica ──────────────► unapplied, leased
 *   unapplied, leased ─ changed again ─────────────────────► unapplied, leased    however often
 *   unapplied, leased ─ the queue was updated ─────────────► applied; due, if the row has another revision by then
 *   unapplied, leased ─ the queue failed ──────────────────► unapplied, due in a second
 *   unapplied, leased ─ the replica crashed ───────────────► unapplied, due when the lease expires
 *
 * So a hundred quick changes become one change of the queue. `queued_revisions` lists the revisions that the queue may hold,
 * so that all of them can be removed. A revision is listed before it is sent to the queue; one that a claim finds in the list
 * has perhaps been added.
 *
 * Being late does no harm: a tick or a job whose revision is not the row's, or whose row is not active, does nothing
 * (`decideTick` in domain/run-state.ts). If a command is executed after its timeout, and so leaves a scheduler that no row
 * knows of, its first tick removes it.
 */

const BATCH = 100;
const PAGE = 500;
/** The interval at which a replica looks for rows that other replicas have left. */
const POLL_INTERVAL_MS = 1_000;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

export function createApplier(deps: {
  readonly pool: pg.Pool;
  readonly queues: CrawlQueues;
  readonly clock: Clock;
  readonly metrics: { readonly repairs: Pick<Counter, 'inc'> };
  readonly log: Pick<Logger, 'warn'>;
}) {
  const { pool, queues, clock, metrics } = deps;
  const report = createErrorReporter(deps.log, 'Failed to apply schedules to the queue: trying again');
  /** Whether the queue failed in the last batch: then it is pinged before rows are claimed. */
  let isQueueDown = false;

  /** Adds the job of a schedule that was applied before, or perhaps was, if the queue does not have it. */
  async function addIfLost(row: Unapplied): Promise<void> {
    if (await queues.has(row)) return;
    const plan = createPlan(row);
    const next = plan.kind === 'recurring' ? nextRunAfter(plan, clock()) : undefined;
    // A time that has passed is left to the watchdog.
    if (next !== undefined && (row.nextRunAt?.getTime() ?? 0) > next)
      await moveNextRunEarlier(pool, row, new Date(next));
    await queues.apply(row);
    metrics.repairs.inc({ kind: 'missing_job' });
  }

  async function add(row: Unapplied): Promise<void> {
    if (row.state !== 'active') return;
    await (row.queuedRevisions.includes(row.revision) ? addIfLost(row) : queues.apply(row));
  }

  async function clear(row: Unapplied, revision: number): Promise<void> {
    const isCurrent = revision === row.revision && (row.state === 'active' || row.state === 'finished');
    if (isCurrent) return;
    await queues.clear({ ...row, revision }, { mayBeOneOff: row.queuedOneOff, kept: row.jobInProgress });
  }

  async function syncRow(row: Unapplied): Promise<void> {
    await Promise.all([add(row), ...row.queuedRevisions.map((revision) => clear(row, revision))]);
  }

  /** @returns whether more rows may be due. */
  async function applyBatch(): Promise<boolean> {
    if (isQueueDown) await queues.ping();
    const rows = await claimUnapplied(pool, BATCH);
    if (rows.length === 0) return false;
    const limited = queues.limitConcurrency(new Set(rows.map(({ connector }) => connector)));
    const results = await Promise.allSettled(rows.map((row) => Promise.all([limited, syncRow(row)])));
    const failures = results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason as unknown] : [],
    );
    isQueueDown = failures.length > 0;
    const isApplied = (_row: Unapplied, index: number) => results[index]?.status === 'fulfilled';
    const changed = await markApplied(pool, rows.filter(isApplied));
    if (failures.length === 0) return changed > 0 || rows.length === BATCH;
    await postponeApplying(
      pool,
      rows.filter((row, index) => !isApplied(row, index)),
    );
    throw failures[0];
  }

  const applying = createPeriodicTask({
    intervalMs: POLL_INTERVAL_MS,
    async run(stopping) {
      while (!stopping.aborted && (await applyBatch()));
    },
    onError: (error) => {
      report(error as Error);
    },
  });

  return {
    /** Call this after a change is committed. */
    wake: applying.wake,

    /** Marks every active schedule as unapplied. @returns false when it was stopped before the end. */
    async rebuild(stopping: AbortSignal): Promise<boolean> {
      for (let last: string | undefined = FIRST_ID; last !== undefined;) {
        if (stopping.aborted) return false;
        last = await markAllUnapplied(pool, last, PAGE);
        applying.wake();
      }
      return true;
    },

    start() {
      applying.start();
      applying.wake();
    },

    stop: applying.stop,
  };
}

export type Applier = ReturnType<typeof createApplier>;
