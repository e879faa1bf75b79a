import type { App } from '@platform/service-kit';
import { adminConnectedAppRoutes, ownConnectedAppRoutes } from './routes.js';
import { createConnectedAppService } from './service.js';

/** Registers the applications that act for members: the caller's own, and those of all members for administrators. */
export function registerConnectedApps(app: App, deps: Parameters<typeof createConnectedAppService>[0]): void {
  const connectedApps = createConnectedAppService(deps);
  ownConnectedAppRoutes(app, connectedApps);
  adminConnectedAppRoutes(app, connectedApps);
}
