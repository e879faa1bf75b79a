import type { App, Shutdown } from '@platform/service-kit';
import { createLeaksJob } from './leaks.job.js';
import { createLeakReportLimit } from './report-limit.js';
import { leakReportRoutes } from './routes.js';
import { createReportLeaks } from './service.js';

/** Registers reports of leaked tokens, and starts the job that revokes them. */
export function registerTokenLeaks(
  app: App,
  deps: Parameters<typeof createLeaksJob>[0] & { readonly shutdown: Shutdown },
): void {
  const { pool, clock, shutdown } = deps;
  const job = createLeaksJob(deps);
  job.start();
  shutdown.on('workers', 'leaked tokens', job.stop);
  leakReportRoutes(app, createReportLeaks({ pool, clock, wake: job.wake }), createLeakReportLimit(pool));
}
