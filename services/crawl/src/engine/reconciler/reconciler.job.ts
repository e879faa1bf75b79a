import { type Clock, createPeriodicTask, type Logger } from '@platform/service-kit';
import type pg from 'pg';
import { runAsLeader } from '../../db/leader-lock.js';
import type { Applier } from '../../queue/applier.js';
import type { CrawlQueues } from '../../queue/queues.js';
import type { CrawlMetrics } from '../metrics.js';
import type { Tasks } from '../tasks/tasks.js';
import { createLostRuns } from './lost-runs.js';
import { createOrphanedTasks } from './orphaned-tasks.js';
import { createWatchdog } from './watchdog.js';

/**
 * At start and every minute, on one replica at a time: rebuilds the queue when it has lost its data, recovers runs
 * whose lease has expired, and replaces runs that were missed. The next round continues what a failed one left.
 */
export function createReconciler(deps: {
  readonly pool: pg.Pool;
  readonly queues: CrawlQueues;
  readonly applier: Applier;
  readonly cancelTask: Tasks['cancel'];
  readonly clock: Clock;
  readonly metrics: CrawlMetrics;
  readonly log: Logger;
  readonly intervalMs: number;
  readonly overdueGraceMs: number;
  readonly misfireGraceMs: number;
}) {
  const { pool, queues, applier, log, intervalMs } = deps;
  const watch = createWatchdog(deps);
  const recoverLost = createLostRuns(deps);
  const cancelOrphanedTasks = createOrphanedTasks(deps);

  /** Runs one phase; its failure does not stop the others. */
  async function phase(what: string, run: () => Promise<void>): Promise<void> {
    await run().catch((error: unknown) => {
      log.warn({ err: error }, `${what} failed; will retry in the next round`);
    });
  }

  async function work(stopping: AbortSignal): Promise<void> {
    await phase('the limit of runs at once', () => queues.limitConcurrency());
    await phase('the watch for missed runs', () => watch(stopping));
    await phase('the recovery of lost runs', recoverLost);
    await phase('the cancellation of orphaned tasks', cancelOrphanedTasks);
    await phase('the rebuilding of the queue', async () => {
      await queues.afterDataLoss(() => applier.rebuild(stopping));
    });
  }

  const rounds = createPeriodicTask({
    intervalMs,
    run: (stopping) => runAsLeader(pool, () => work(stopping)),
    onError: (error) => {
      log.warn({ err: error }, 'reconciliation failed; will retry');
    },
  });

  return {
    start() {
      rounds.start();
      rounds.wake();
    },
    stop: rounds.stop,
  };
}
