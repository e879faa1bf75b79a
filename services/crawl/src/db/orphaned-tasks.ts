import type { Connector } from '@platform/events';
import type pg from 'pg';
import type { Db } from './transaction.js';

/** A remote task that may still be running although its run was aborted. */
export interface OrphanedTask {
  readonly runId: string;
  readonly connector: Connector;
  readonly location: string;
  readonly requestId: string;
  readonly abortedAt: Date;
}

/** Returns the tasks of runs that were aborted before `before`, oldest first. */
export async function findOrphanedTasks(db: pg.Pool, before: Date, limit: number): Promise<OrphanedTask[]> {
  const { rows } = await db.query<OrphanedTask>({
    name: 'orphaned_tasks',
    text: `select id as "runId", connector, task_location as location, coalesce(request_id, id::text) as "requestId",
             finished_at as "abortedAt"
           from runs where state = 'aborted' and task_location is not null and finished_at < $1
           order by finished_at limit $2`,
    values: [before, limit],
  });
  return rows;
}

/** Call this once the task of a run has been cancelled. */
export const clearTaskLocation = (db: Db, runId: string): Promise<unknown> =>
  db.query({
    name: 'clear_task_location',
    text: 'update runs set task_location = null where id = $1',
    values: [runId],
  });
