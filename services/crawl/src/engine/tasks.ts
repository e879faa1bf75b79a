import type { Connector } from '@platform/events';
import type { Clock } from '@platform/service-kit';
import { Agent } from 'undici';
import type { Run } from '../db/runs.js';
import type { TaskToCancel } from '../db/task-cancellations.js';
import { retryTransient } from './retry-transient.js';
import { ANY_CONNECTOR, type TaskEndpoints, type TaskSecrets } from './tasks/endpoint-config.js';
import { cancelTask, createHttpTask, toStatusUrl } from './tasks/http-task.js';
import type { OrganisationEndpoints } from './organisation-endpoints.js';
import { builtInTask, type Task } from './tasks/task.js';

/**
 * Creates the tasks of runs: that of the organisation's endpoint if the schedule names one, otherwise that of the endpoint
 * that the operator has configured for the connector, otherwise the built-in task.
 */
export function createTasks(options: {
  readonly endpoints: TaskEndpoints;
  readonly secrets: TaskSecrets;
  readonly clock: Clock;
  readonly organisationEndpoints: Pick<OrganisationEndpoints, 'find'>;
}) {
  const { endpoints, secrets, clock, organisationEndpoints } = options;
  // Connections are not limited: by default there are at most five orders per connector, each of which may take as
  // long as its run, and when one endpoint serves all connectors, hanging requests must not delay the others.
  const dispatcher = new Agent({
    connect: { timeout: 5_000 },
    // Each request has its own timeout.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const configured = new Map(
    [...endpoints].map(([connector, address]) => {
      const url = new URL(address);
      const keys = secrets.get(connector) ?? [];
      const access = { dispatcher, getSecrets: () => keys, clock };
      return [connector, { url, access, task: createHttpTask(url, access) }];
    }),
  );
  const find = (connector: Connector) => configured.get(connector) ?? configured.get(ANY_CONNECTOR);
  return {
    /** Returns whether the connector has an endpoint. */
    has: (connector: Connector): boolean => find(connector) !== undefined,
    get(run: Pick<Run, 'connector' | 'orgId' | 'endpointId'>): Task {
      const { endpointId, orgId } = run;
      if (endpointId === null) return find(run.connector)?.task ?? builtInTask;
      return async (order, context) => {
        const load = () => organisationEndpoints.find({ orgId, endpointId });
        const endpoint = await retryTransient(load, context.signal);
        if (!endpoint) throw new Error('The endpoint was removed');
        return createHttpTask(endpoint.url, endpoint.access)(order, context);
      };
    },

    /**
     * Cancels a task that an earlier attempt started. A task of an endpoint that there is no longer is ignored.
     *
     * @throws Error when the request failed.
     */
    async cancel(
      task: Pick<TaskToCancel, 'connector' | 'orgId' | 'endpointId' | 'location' | 'requestId'>,
    ): Promise<void> {
      const { orgId, endpointId, location, requestId } = task;
      const endpoint =
        endpointId === null ? find(task.connector) : await organisationEndpoints.find({ orgId, endpointId });
      if (endpoint?.url.origin !== new URL(location).origin) return;
      await cancelTask(endpoint.access, toStatusUrl(endpoint.url, location), requestId);
    },
    close: (): Promise<void> => dispatcher.close(),
  };
}

export type Tasks = ReturnType<typeof createTasks>;
