import type { App } from '@platform/service-kit';
import { applicationRoutes, applicationSecretRoutes } from './routes.js';
import type { ApplicationDeps } from './administrate.js';
import { createSecretService } from './secrets.js';
import { createApplicationService } from './service.js';

/** Registers the OAuth applications that administrators manage. */
export function registerApplications(app: App, deps: ApplicationDeps): void {
  applicationRoutes(app, createApplicationService(deps));
  applicationSecretRoutes(app, createSecretService(deps));
}
