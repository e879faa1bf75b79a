import type { Run } from '../db/runs.js';
import type { TaskToCancel } from '../db/task-cancellations.js';
import type { OrganisationEndpoints } from './organisation-endpoints.js';
import { retryTransient } from './retry-transient.js';
import { cancelTask, createHttpTask, toStatusUrl } from './tasks/http-task.js';
import { eventTask, type Task } from './tasks/task.js';

type Endpoints = Pick<OrganisationEndpoints, 'find'>;

/** Returns what a run does here: the call of the endpoint that its schedule names, otherwise nothing but its event. */
export function toTask(endpoints: Endpoints, run: Pick<Run, 'orgId' | 'endpointId'>): Task {
  const { endpointId, orgId } = run;
  if (endpointId === null) return eventTask;
  return async (order, context) => {
    const endpoint = await retryTransient(() => endpoints.find({ orgId, endpointId }), context.signal);
    if (!endpoint) throw new Error('The endpoint was removed');
    return createHttpTask(endpoint.url, endpoint.access)(order, context);
  };
}

/**
 * Cancels a task that an earlier attempt started. The task of an endpoint that was removed, or has moved to another
 * origin, is ignored.
 *
 * @throws Error when the request failed.
 */
export async function cancelRemoteTask(endpoints: Endpoints, task: TaskToCancel): Promise<void> {
  const { orgId, endpointId, location, requestId } = task;
  const endpoint = await endpoints.find({ orgId, endpointId });
  if (endpoint?.url.origin !== new URL(location).origin) return;
  await cancelTask(endpoint.access, toStatusUrl(endpoint.url, location), requestId);
}
