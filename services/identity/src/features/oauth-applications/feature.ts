import type { App } from '@platform/service-kit';
import { applicationRoutes, applicationSecretRoutes } from './routes.js';
import { createApplicationService } from './service.js';

/** Registers the OAuth applications that administrators manage. */
export function registerApplications(app: App, deps: Parameters<typeof createApplicationService>[0]): void {
  const applications = createApplicationService(deps);
  applicationRoutes(app, applications);
  applicationSecretRoutes(app, applications);
}
