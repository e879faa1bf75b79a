import type { App } from '@platform/service-kit';
import { configurationRoutes, internalConfigurationRoutes } from './routes.js';
import { createConfigurationService } from './service.js';

/** Registers the SMTP configuration, for administrators and for the mail service. */
export function registerConfiguration(
  app: App,
  deps: Parameters<typeof createConfigurationService>[0],
): void {
  const configuration = createConfigurationService(deps);
  configurationRoutes(app, configuration);
  internalConfigurationRoutes(app, configuration);
}
