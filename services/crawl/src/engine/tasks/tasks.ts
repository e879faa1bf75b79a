import type { Connector } from '@platform/events';
import type { Clock } from '@platform/service-kit';
import { Agent } from 'undici';
import { ANY_CONNECTOR, type TaskEndpoints, type TaskSecrets } from './endpoint-config.js';
import { cancelTask, createHttpTask, toStatusUrl } from './http-task.js';
import { builtInTask, type Task } from './task.js';

/** Creates the task of each connector: its endpoint if one is configured, otherwise the built-in task. */
export function createTasks(options: {
  readonly endpoints: TaskEndpoints;
  readonly secrets: TaskSecrets;
  readonly clock: Clock;
}) {
  const { endpoints, secrets, clock } = options;
  // Connections are not limited: by default there are at most five orders per connector, each of which may take as
  // long as its run, and when one endpoint serves all connectors, those that hang must not delay the others.
  const dispatcher = new Agent({
    connect: { timeout: 5_000 },
    // Each request has its own timeout.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const configured = new Map(
    [...endpoints].map(([connector, address]) => {
      const url = new URL(address);
      const access = { dispatcher, secrets: secrets.get(connector) ?? [], clock };
      return [connector, { url, access, task: createHttpTask(url, access) }];
    }),
  );
  const find = (connector: Connector) => configured.get(connector) ?? configured.get(ANY_CONNECTOR);
  return {
    /** Returns whether the connector has an endpoint. */
    has: (connector: Connector): boolean => find(connector) !== undefined,
    get: (connector: Connector): Task => find(connector)?.task ?? builtInTask,

    /**
     * Cancels a task that an earlier attempt started. A task of an endpoint that is no longer configured is ignored.
     *
     * @throws Error when the request failed.
     */
    async cancel(connector: Connector, location: string, requestId: string): Promise<void> {
      const endpoint = find(connector);
      if (endpoint?.url.origin !== new URL(location).origin) return;
      await cancelTask(endpoint.access, toStatusUrl(endpoint.url, location), requestId);
    },
    close: (): Promise<void> => dispatcher.close(),
  };
}

export type Tasks = ReturnType<typeof createTasks>;
