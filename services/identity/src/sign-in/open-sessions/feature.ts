import type { App } from '@platform/service-kit';
import { memberSessionRoutes, ownSessionRoutes } from './routes.js';
import { createOpenSessions } from './service.js';

/** Registers the lists of open sessions: the caller's own, and those of members for administrators. */
export function registerOpenSessions(app: App, deps: Parameters<typeof createOpenSessions>[0]): void {
  const sessions = createOpenSessions(deps);
  ownSessionRoutes(app, sessions);
  memberSessionRoutes(app, sessions);
}
