import type { Connector } from '@platform/events';
import type pg from 'pg';

/** A remote task that may still be running although its attempt has ended. */
export interface TaskToCancel {
  readonly runId: string;
  readonly orgId: string;
  readonly connector: Connector;
  /** The endpoint that has it. */
  readonly endpointId: string;
  readonly location: string;
  readonly requestId: string;
  readonly createdAt: Date;
}

/** Returns tasks to be cancelled, and leaves them to this replica until `until`. */
export async function takeTasksToCancel(
  db: pg.Pool,
  now: Date,
  until: Date,
  limit: number,
): Promise<TaskToCancel[]> {
  const { rows } = await db.query<TaskToCancel>({
    name: 'take_tasks_to_cancel',
    text: `update tasks_to_cancel t set due_at = $2 from (
             select run_id, location from tasks_to_cancel where due_at <= $1
             order by due_at limit $3 for no key update skip locked) due
           where t.run_id = due.run_id and t.location = due.location
           returning t.run_id as "runId", t.org_id as "orgId", t.connector, t.location, t.request_id as "requestId",
             t.created_at as "createdAt", t.endpoint_id as "endpointId"`,
    values: [now, until, limit],
  });
  return rows;
}

/** Call this once a task has been cancelled, or is given up. */
export const deleteTaskToCancel = (db: pg.Pool, task: TaskToCancel): Promise<unknown> =>
  db.query({
    name: 'delete_task_to_cancel',
    text: 'delete from tasks_to_cancel where run_id = $1 and location = $2',
    values: [task.runId, task.location],
  });
