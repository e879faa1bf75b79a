import type { App } from '@platform/service-kit';
import { createInvitations } from './invitations.js';
import { ownUserRoutes, userRoutes } from './routes.js';
import { createUserService } from './service.js';

type Deps = Parameters<typeof createUserService>[0] & Parameters<typeof createInvitations>[0];

/** Registers the caller's own account, and the members that administrators manage. */
export function registerUsers(app: App, deps: Deps): void {
  ownUserRoutes(app);
  userRoutes(app, createUserService(deps), createInvitations(deps));
}
