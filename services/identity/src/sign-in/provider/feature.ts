import type { App } from '@platform/service-kit';
import type pg from 'pg';
import { createAttemptLimits } from '../../base/rate-limits/attempt-limits.js';
import type { SessionContext } from '../sessions/service.js';
import type { ProviderSignInContext } from './context.js';
import { providerSignInRoutes } from './routes.js';

/** Registers the sign-in with the identity provider of an organisation. */
export function registerProviderSignIn(
  app: App,
  deps: Omit<ProviderSignInContext, 'limits'> & { readonly pool: pg.Pool; readonly sessions: SessionContext },
): void {
  const limits = createAttemptLimits(deps.pool, {
    name: 'provider',
    perPair: 50,
    perAddress: 100,
    message: 'Too many sign-ins: try again later',
  });
  providerSignInRoutes(app, { ...deps, limits }, deps.sessions);
}
