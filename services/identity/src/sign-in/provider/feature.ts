import type { App } from '@platform/service-kit';
import type pg from 'pg';
import { createAttemptLimits } from '../../base/rate-limits/attempt-limits.js';
import type { SessionService } from '../sessions/service.js';
import { createBegin } from './begin.js';
import { createConfirmations } from './confirmations.js';
import { createExchange } from './exchange.js';
import { createAdmit } from './member.js';
import { providerSignInRoutes } from './routes.js';
import { createProviderSignIns, type ProviderSignInDeps } from './service.js';

/** Registers the sign-in with the identity provider of an organisation. */
export function registerProviderSignIn(
  app: App,
  deps: Omit<ProviderSignInDeps, 'admit' | 'begin' | 'confirmations' | 'exchange' | 'limits'> &
    Parameters<typeof createExchange>[0] &
    Parameters<typeof createAdmit>[0] & { readonly pool: pg.Pool; readonly sessions: SessionService },
): void {
  const limits = createAttemptLimits(deps.pool, {
    name: 'provider',
    perPair: 50,
    perAddress: 100,
    message: 'Too many sign-ins: try again later',
  });
  const exchange = createExchange(deps);
  const begin = createBegin({ ...deps, exchange });
  const confirmations = createConfirmations({ ...deps, begin, limits });
  const admit = createAdmit(deps);
  const signIns = createProviderSignIns({ ...deps, admit, begin, confirmations, exchange, limits });
  providerSignInRoutes(app, { signIns, confirmations, sessions: deps.sessions });
}
