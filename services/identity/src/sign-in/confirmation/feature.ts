import type { App } from '@platform/service-kit';
import { confirmationPageRoutes } from './page.routes.js';
import { sessionConfirmationRoutes } from './routes.js';
import { createSessionConfirmation } from './service.js';

/**
 * Registers the confirmation that dangerous acts in a browser need, as an operation and as a page;
 * `guardDangerousRoutes` asks for it.
 */
export function registerSessionConfirmation(
  app: App,
  deps: Parameters<typeof createSessionConfirmation>[0],
): void {
  const confirmation = createSessionConfirmation(deps);
  sessionConfirmationRoutes(app, confirmation);
  confirmationPageRoutes(app, confirmation);
}
