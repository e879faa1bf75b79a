import type { App } from '@platform/service-kit';
import type pg from 'pg';
import { createAttemptLimits } from '../../base/rate-limits/attempt-limits.js';
import type { SessionService } from '../sessions/service.js';
import { createConfirmations } from './confirmations.js';
import { createExchange } from './exchange.js';
import { providerSignInRoutes } from './routes.js';
import { createProviderSignIns, type ProviderSignInDeps } from './service.js';

/** Registers the sign-in with the identity provider of an organisation. */
export function registerProviderSignIn(
  app: App,
  deps: Omit<ProviderSignInDeps, 'confirmations' | 'exchange' | 'limits'> &
    Parameters<typeof createExchange>[0] & { readonly pool: pg.Pool; readonly sessions: SessionService },
): void {
  const limits = createAttemptLimits(deps.pool, {
    name: 'provider',
    perPair: 50,
    perAddress: 100,
    message: 'Too many sign-ins: try again later',
  });
  const exchange = createExchange(deps);
  const confirmations = createConfirmations({ ...deps, exchange, limits });
  const signIns = createProviderSignIns({ ...deps, confirmations, exchange, limits });
  providerSignInRoutes(app, { signIns, confirmations, sessions: deps.sessions });
}
