import type { App } from '@platform/service-kit';
import type { TokenPolicy } from './policy.js';
import { findTokenPolicy } from './queries.js';
import { tokenPolicyRoutes } from './routes.js';
import { createTokenPolicyService } from './service.js';

/** Returns the policy of an organisation for its tokens. */
export type GetPolicy = (orgId: string) => Promise<TokenPolicy>;

/** Registers the policy for tokens, which administrators set. */
export function registerTokenPolicy(
  app: App,
  deps: Parameters<typeof createTokenPolicyService>[0],
): GetPolicy {
  tokenPolicyRoutes(app, createTokenPolicyService(deps));
  return (orgId) => findTokenPolicy(deps.prisma, orgId);
}
