import type { Connector } from '@platform/events';
import type { Clock } from '@platform/service-kit';
import { Agent } from 'undici';
import { ANY_CONNECTOR, type TaskEndpoints, type TaskSecrets } from './endpoint-config.js';
import { createHttpTask } from './http-task.js';
import { builtInTask, type Task } from './task.js';

export interface Tasks {
  of(connector: Connector): Task;
  close(): Promise<void>;
}

/** The task of each connector: its own endpoint where one is configured, else the built-in one. */
export function createTasks(options: {
  readonly endpoints: TaskEndpoints;
  readonly secrets: TaskSecrets;
  readonly clock: Clock;
}): Tasks {
  const { endpoints, secrets, clock } = options;
  // No limit of connections: there are five orders per connector at the most, each of which may take as long as its run,
  // and where one endpoint serves all connectors, those that hang must not hold up the others.
  const dispatcher = new Agent({
    connect: { timeout: 5_000 },
    // Each request brings its own limit.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const tasks = new Map<string, Task>(
    [...endpoints].map(([connector, url]) => {
      const deps = { dispatcher, secrets: secrets.get(connector) ?? [], clock };
      return [connector, createHttpTask(new URL(url), deps)];
    }),
  );
  return {
    of: (connector) => tasks.get(connector) ?? tasks.get(ANY_CONNECTOR) ?? builtInTask,
    close: () => dispatcher.close(),
  };
}
