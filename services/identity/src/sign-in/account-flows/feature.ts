import type { App } from '@platform/service-kit';
import type pg from 'pg';
import { createAttemptLimits } from '../../base/rate-limits/attempt-limits.js';
import { accountLinkRoutes, accountRequestRoutes } from './routes.js';
import type { AccountFlowContext } from './service.js';

/** Creates one limiter for each endpoint, as they are open to everyone. */
function createLimits(pool: pg.Pool): AccountFlowContext['limits'] {
  const message = 'Too many requests: try again later';
  return {
    // There is no limit per account: anyone could use it up and lock the owner out.
    code: createAttemptLimits(pool, { name: 'code', perPair: 5, perAddress: 50, message }),
    reset: createAttemptLimits(pool, { name: 'reset', perPair: 5, perAddress: 50, message }),
    // The subject is the link: as long as its token is wrong, no account is known.
    link: createAttemptLimits(pool, { name: 'link', perSubject: 10, perPair: 10, perAddress: 50, message }),
  };
}

/** Registers what happens through mailed codes and links: codes, password resets and invitations. */
export function registerAccountFlows(
  app: App,
  deps: Omit<AccountFlowContext, 'limits'> & { readonly pool: pg.Pool },
): AccountFlowContext {
  const flows = { ...deps, limits: createLimits(deps.pool) };
  accountRequestRoutes(app, flows);
  accountLinkRoutes(app, flows);
  return flows;
}
