import type { App } from '@platform/service-kit';
import type pg from 'pg';
import { createAttemptLimits } from '../../base/rate-limits/attempt-limits.js';
import { toRelyingParty } from '../passkeys/relying-party.js';
import type { SecondFactorContext } from './context.js';
import { passkeyLoginRoutes, secondFactorLoginRoutes } from './login.routes.js';
import { newPasskeyRoutes, storedPasskeyRoutes } from './passkey.routes.js';
import { memberSecondFactorRoutes, ownSecondFactorRoutes, recoveryCodeRoutes } from './routes.js';

/**
 * Registers the second step of a sign-in, the own second factor, and its reset.
 *
 * @returns the context of the steps that every first factor goes on to: they alone can open a session.
 */
export function registerSecondFactor(
  app: App,
  deps: Omit<SecondFactorContext, 'findName' | 'limits' | 'passkeyLimits' | 'relyingParty'> & {
    readonly config: { readonly PUBLIC_URL: string };
    readonly pool: pg.Pool;
  },
): SecondFactorContext {
  const ctx = {
    ...deps,
    relyingParty: toRelyingParty(deps.config.PUBLIC_URL),
    findName: (orgId: string) => app.findOrganisationName(orgId),
    // The limit of an account is counted with its authenticator app, by the day.
    limits: createAttemptLimits(deps.pool, {
      name: 'second-factor',
      perPair: 10,
      perAddress: 100,
      message: 'Too many wrong codes: try again later',
    }),
    // Those of a password, for each passkey in place of an address. Nobody can lock its owner out: strangers do not know its id.
    passkeyLimits: createAttemptLimits(deps.pool, {
      name: 'login-passkey',
      perPair: 10,
      perAddress: 100,
      successesPerSubject: 100,
      message: 'Too many sign-ins: try again later',
    }),
  };
  secondFactorLoginRoutes(app, ctx);
  passkeyLoginRoutes(app, ctx);
  ownSecondFactorRoutes(app, ctx);
  recoveryCodeRoutes(app, ctx);
  newPasskeyRoutes(app, ctx);
  storedPasskeyRoutes(app, ctx);
  memberSecondFactorRoutes(app, ctx);
  return ctx;
}
