import type { App } from '@platform/service-kit';
import { invitationRoutes } from './routes.js';
import { createInvitations } from './service.js';

/** Registers repeating an invitation. Members are invited with the feature `users`. */
export function registerInvitations(app: App, deps: Parameters<typeof createInvitations>[0]): void {
  invitationRoutes(app, createInvitations(deps));
}
