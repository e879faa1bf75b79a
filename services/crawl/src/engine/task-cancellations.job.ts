import { type Clock, createPeriodicTask, type Logger } from '@platform/service-kit';
import type pg from 'pg';
import { deleteTaskToCancel, takeTasksToCancel, type TaskToCancel } from '../db/task-cancellations.js';
import type { CrawlMetrics } from './metrics.js';
import type { OrganisationEndpoints } from './organisation-endpoints.js';
import { cancelRemoteTask } from './tasks.js';

/** After this time the task of an unavailable endpoint is given up. */
const GIVE_UP_AFTER_MS = 3_600_000;
const INTERVAL_MS = 1_000;
/** A task that could not be cancelled is left alone for this long. */
const RETRY_AFTER_MS = 5_000;
const BATCH = 20;

/**
 * Cancels the remote tasks of attempts that have ended in any way but that the endpoint said so. The statement that ends
 * the attempt orders the cancellation, so none is lost with a worker, and each is repeated until the endpoint has answered.
 */
export function createTaskCancellations(deps: {
  readonly pool: pg.Pool;
  readonly endpoints: Pick<OrganisationEndpoints, 'find'>;
  readonly clock: Clock;
  readonly metrics: Pick<CrawlMetrics, 'repairs'>;
  readonly log: Logger;
}) {
  const { pool, endpoints, clock, metrics, log } = deps;

  async function cancel(task: TaskToCancel): Promise<void> {
    const { runId, connector, createdAt } = task;
    try {
      await cancelRemoteTask(endpoints, task);
      metrics.repairs.inc({ kind: 'cancelled_task' });
    } catch (error) {
      const isGivenUp = clock() - createdAt.getTime() > GIVE_UP_AFTER_MS;
      log.warn({ err: error, runId, connector }, `failed to cancel a task${isGivenUp ? ': giving up' : ''}`);
      if (!isGivenUp) return;
    }
    await deleteTaskToCancel(pool, task);
  }

  const cancelling = createPeriodicTask({
    intervalMs: INTERVAL_MS,
    async run(stopping) {
      for (let count = BATCH; count === BATCH && !stopping.aborted;) {
        const now = clock();
        const tasks = await takeTasksToCancel(pool, new Date(now), new Date(now + RETRY_AFTER_MS), BATCH);
        await Promise.all(tasks.map(cancel));
        count = tasks.length;
      }
    },
    onError: (error) => {
      log.warn({ err: error }, 'failed to cancel tasks; will retry');
    },
  });
  return {
    start: cancelling.start,
    wake: cancelling.wake,
    stop: cancelling.stop,
  };
}
