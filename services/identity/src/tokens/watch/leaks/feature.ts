import type { App, Shutdown } from '@platform/service-kit';
import { githubLeakRoutes } from './github.routes.js';
import { createLeaksJob } from './leaks.job.js';
import { createLeakReportLimit } from './report-limit.js';
import { leakReportRoutes } from './routes.js';
import type { ScanningKeys } from './scanning-keys.js';
import { createLeakReports } from './service.js';

/** Registers reports of leaked tokens, and starts the job that revokes them. */
export function registerTokenLeaks(
  app: App,
  deps: Parameters<typeof createLeaksJob>[0] & {
    /** The public keys of GitHub's secret scanning; undefined when it isn't used. */
    readonly scanningKeys: ScanningKeys | undefined;
    readonly shutdown: Shutdown;
  },
): void {
  const { pool, clock, shutdown } = deps;
  const job = createLeaksJob(deps);
  job.start();
  shutdown.on('workers', 'leaked tokens', job.stop);
  const reports = createLeakReports({ pool, clock, wake: job.wake });
  leakReportRoutes(app, reports.report, createLeakReportLimit(pool, 'leak-report'));
  const { scanningKeys: keys } = deps;
  const limit = createLeakReportLimit(pool, 'leak-signature');
  if (keys) githubLeakRoutes(app, { keys, report: reports.reportMatches, limit });
}
