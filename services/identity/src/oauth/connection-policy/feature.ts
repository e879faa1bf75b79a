import type { App } from '@platform/service-kit';
import { connectionPolicyRoutes } from './routes.js';
import { createConnectionPolicies } from './service.js';

/** Registers the policy that says which applications members may connect. */
export function registerConnectionPolicy(
  app: App,
  deps: Parameters<typeof createConnectionPolicies>[0],
): void {
  connectionPolicyRoutes(app, createConnectionPolicies(deps));
}
