import type { App } from '@platform/service-kit';
import { serviceAccountRoutes } from './routes.js';
import { createServiceAccounts } from './service.js';
import { accountTokenRoutes } from './token.routes.js';
import { createAccountTokens } from './tokens.js';

/** Registers the service accounts that administrators manage, with their tokens. */
export function registerServiceAccounts(
  app: App,
  deps: Parameters<typeof createServiceAccounts>[0] &
    Omit<Parameters<typeof createAccountTokens>[0], 'accounts'>,
): void {
  const accounts = createServiceAccounts(deps);
  serviceAccountRoutes(app, accounts);
  accountTokenRoutes(app, createAccountTokens({ ...deps, accounts }));
}
