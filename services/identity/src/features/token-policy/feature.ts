import type { App } from '@platform/service-kit';
import type { TokenPolicy } from './policy.js';
import { tokenPolicyRoutes } from './routes.js';
import { createTokenPolicyService } from './service.js';

/** Returns the policy of an organisation for its tokens. */
type GetPolicy = (orgId: string) => Promise<TokenPolicy>;

/** Registers the policy for tokens, which administrators set. */
export function registerTokenPolicy(
  app: App,
  deps: Parameters<typeof createTokenPolicyService>[0],
): GetPolicy {
  const policy = createTokenPolicyService(deps);
  tokenPolicyRoutes(app, policy);
  return (orgId) => policy.get({ orgId });
}
