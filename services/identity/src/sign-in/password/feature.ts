import type { App } from '@platform/service-kit';
import { ownPasswordRoutes } from './routes.js';
import { createChangeOwnPassword } from './service.js';

/** Registers the change of the caller's own password. */
export function registerOwnPassword(app: App, deps: Parameters<typeof createChangeOwnPassword>[0]): void {
  ownPasswordRoutes(app, createChangeOwnPassword(deps));
}
