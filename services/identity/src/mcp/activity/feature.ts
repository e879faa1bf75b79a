import type { App, Clock, Logger, Shutdown } from '@platform/service-kit';
import type pg from 'pg';
import { createToolCallRecorder, type ToolCallRecorder } from './recorder.js';
import { toolActivityRoutes } from './routes.js';

/** Registers the activity of tokens, and starts the recorder of tool calls. */
export function registerToolActivity(
  app: App,
  deps: {
    readonly pool: pg.Pool;
    readonly clock: Clock;
    readonly log: Logger;
    readonly shutdown: Shutdown;
  },
): Pick<ToolCallRecorder, 'record'> {
  const recorder = createToolCallRecorder(deps);
  recorder.start();
  deps.shutdown.on('flush', 'tool calls', recorder.stop);
  toolActivityRoutes(app, deps.pool);
  return recorder;
}
