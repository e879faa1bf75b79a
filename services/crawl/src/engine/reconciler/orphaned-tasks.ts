import type { Clock, Logger } from '@platform/service-kit';
import type pg from 'pg';
import { clearTaskLocation, findOrphanedTasks, type OrphanedTask } from '../../db/orphaned-tasks.js';
import type { CrawlMetrics } from '../metrics.js';
import type { Tasks } from '../tasks/tasks.js';
import { forEachConcurrently } from './for-each-concurrently.js';

/** The time that the worker of an aborted run has to cancel the task itself. */
const OWN_CANCELLATION_MS = 10_000;
/** After this time the task of an unavailable endpoint is given up. */
const GIVE_UP_AFTER_MS = 3_600_000;
const BATCH = 200;

/**
 * Cancels the remote tasks of runs that were aborted while no worker held them: their worker crashed, or noticed that
 * its lease was lost and left the task to the next one.
 */
export function createOrphanedTasks(deps: {
  readonly pool: pg.Pool;
  readonly cancelTask: Tasks['cancel'];
  readonly clock: Clock;
  readonly metrics: Pick<CrawlMetrics, 'repairs'>;
  readonly log: Logger;
}) {
  const { pool, cancelTask, clock, metrics, log } = deps;

  async function cancel({ runId, connector, location, requestId, abortedAt }: OrphanedTask): Promise<void> {
    try {
      await cancelTask(connector, location, requestId);
      metrics.repairs.inc({ kind: 'orphaned_task' });
      log.warn({ runId, connector }, 'cancelled the task of an aborted run that no worker had');
    } catch (error) {
      if (clock() - abortedAt.getTime() < GIVE_UP_AFTER_MS) throw error;
      log.warn({ err: error, runId, connector }, 'gave up cancelling the task of an aborted run');
    }
    await clearTaskLocation(pool, runId);
  }

  return async (): Promise<void> => {
    const tasks = await findOrphanedTasks(pool, new Date(clock() - OWN_CANCELLATION_MS), BATCH);
    await forEachConcurrently(tasks, cancel, { log, what: 'cancelling a task' });
  };
}
