import type { App, Clock, Logger, Shutdown } from '@platform/service-kit';
import type pg from 'pg';
import { createToolCallRecorder, type ToolCallRecorder } from './recorder.js';
import { refusalReportRoutes } from './report.routes.js';
import { toolActivityRoutes } from './routes.js';

/** Starts the recorder of tool calls and of refusals. */
export function startToolCallRecorder(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly log: Logger;
  readonly shutdown: Shutdown;
}): ToolCallRecorder {
  const recorder = createToolCallRecorder(deps);
  recorder.start();
  deps.shutdown.on('flush', 'tool calls', recorder.stop);
  return recorder;
}

/** Registers the activity of tokens, and where the other services report what they refused. */
export function registerToolActivity(
  app: App,
  { pool, recorder }: { readonly pool: pg.Pool; readonly recorder: Pick<ToolCallRecorder, 'recordRefusal'> },
): void {
  toolActivityRoutes(app, pool);
  refusalReportRoutes(app, recorder);
}
