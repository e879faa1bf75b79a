import type { App, Logger } from '@platform/service-kit';
import type { StartJob } from '../base/start-job.js';
import type { RefusedUses } from '../credentials/liveness/refused-uses.js';
import type { TokenContext } from './context.js';
import { tokenPolicyRoutes } from './policy/routes.js';
import {
  adminTokenRoutes,
  grantableRoutes,
  ownCredentialRoutes,
  ownTokenEndRoutes,
  ownTokenRoutes,
} from './routes.js';
import { registerServiceAccounts } from './service-accounts/routes.js';
import { registerTokenLeaks } from './watch/leaks/routes.js';
import { startTokenNotices } from './watch/notices/notices.job.js';
import { startTokenReuses } from './watch/reuse/reuse.job.js';
import { startUnusedTokens } from './watch/unused/unused.job.js';

/** Registers personal access tokens, from their creation to their end, and the service accounts that can own some. */
export function registerTokens(
  app: App,
  deps: TokenContext & {
    readonly log: Logger;
    readonly refusedUses: Pick<RefusedUses, 'onReuse'>;
    readonly startJob: StartJob;
  },
): void {
  tokenPolicyRoutes(app, deps);
  ownTokenRoutes(app, deps);
  ownTokenEndRoutes(app, deps);
  grantableRoutes(app, deps);
  ownCredentialRoutes(app, deps);
  adminTokenRoutes(app, deps);
  registerServiceAccounts(app, deps);
  registerTokenLeaks(app, deps);
  startTokenReuses(deps);
  // They look at once, which would compete with the start of the service.
  app.addHook('onListen', (done) => {
    startUnusedTokens(deps);
    startTokenNotices(deps);
    done();
  });
}
