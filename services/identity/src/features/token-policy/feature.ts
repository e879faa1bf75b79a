import type { App, Shutdown } from '@platform/service-kit';
import { type CurrentPolicy, findCurrentPolicy } from './queries.js';
import { createPolicyRevocationJob } from './revocation.job.js';
import { tokenPolicyRoutes } from './routes.js';
import { createTokenPolicyService } from './service.js';

/** Returns the policy of an organisation for its tokens. */
export type GetPolicy = (orgId: string) => Promise<CurrentPolicy>;

/** Registers the policy for tokens, which administrators set, and starts the job that finishes its revocations. */
export function registerTokenPolicy(
  app: App,
  deps: Parameters<typeof createTokenPolicyService>[0] &
    Parameters<typeof createPolicyRevocationJob>[0] & { readonly shutdown: Shutdown },
): GetPolicy {
  tokenPolicyRoutes(app, createTokenPolicyService(deps));
  const job = createPolicyRevocationJob(deps);
  job.start();
  job.wake();
  deps.shutdown.on('workers', 'policy revocations', job.stop);
  return (orgId) => findCurrentPolicy(deps.prisma, orgId);
}
