import type { Connector } from '@platform/events';
import { Agent } from 'undici';
import { createHttpTask } from './http-task.js';
import { builtInTask, type Task } from './task.js';

export interface Tasks {
  of(connector: Connector): Task;
  close(): Promise<void>;
}

/** The default of `TASKS`: every connector without an entry of its own. */
const ANY = '*';

/** The task of each connector: its own endpoint where one is configured, else the built-in one. */
export function createTasks(options: {
  readonly endpoints: ReadonlyMap<string, string>;
  readonly serviceToken: () => Promise<string>;
}): Tasks {
  // No limit of connections: there are five orders per connector at the most, each of which may take as long as its run,
  // and where one endpoint serves all connectors, those that hang must not hold up the others.
  const dispatcher = new Agent({
    connect: { timeout: 5_000 },
    // Each request brings its own limit.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const deps = { dispatcher, serviceToken: options.serviceToken };
  const tasks = new Map<string, Task>(
    [...options.endpoints].map(([connector, url]) => [connector, createHttpTask(new URL(url), deps)]),
  );
  return {
    of: (connector) => tasks.get(connector) ?? tasks.get(ANY) ?? builtInTask,
    close: () => dispatcher.close(),
  };
}
