import type { App } from '@platform/service-kit';
import { ownUserRoutes, userRoutes } from './routes.js';
import { createUserService } from './service.js';

/** Registers the caller's own account, and the members that administrators manage. */
export function registerUsers(app: App, deps: Parameters<typeof createUserService>[0]): void {
  ownUserRoutes(app);
  userRoutes(app, createUserService(deps));
}
