import type { App } from '@platform/service-kit';
import { confirmationPageRoutes } from './page.routes.js';
import { sessionConfirmationRoutes } from './routes.js';
import type { ConfirmationContext } from './service.js';

/**
 * Registers the confirmation that dangerous acts in a browser need, as an operation and as a page;
 * `guardDangerousRoutes` asks for it.
 */
export function registerSessionConfirmation(app: App, ctx: ConfirmationContext): void {
  sessionConfirmationRoutes(app, ctx);
  confirmationPageRoutes(app, ctx);
}
