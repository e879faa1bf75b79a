import type { App } from '@platform/service-kit';
import type { TokenContext } from '../context.js';
import { serviceAccountRoutes } from './routes.js';
import { createServiceAccounts } from './service.js';
import { accountTokenRoutes } from './token.routes.js';

/** Registers the service accounts that administrators manage, with their tokens. */
export function registerServiceAccounts(app: App, ctx: TokenContext): void {
  const accounts = createServiceAccounts(ctx);
  serviceAccountRoutes(app, accounts);
  accountTokenRoutes(app, ctx, accounts);
}
