import type { App, Clock, Logger, Shutdown } from '@platform/service-kit';
import type pg from 'pg';
import { type AttemptLimits, createAttemptLimits } from '../../base/rate-limits/attempt-limits.js';
import { createFailedSignIns, type FailedSignIns } from './failed-sign-ins.js';
import { loginRoutes, logoutRoutes } from './routes.js';
import { createSessionService, type SessionService } from './service.js';

/** The limits that all forms with a password share: a guess at one counts like a guess at another. */
export interface SignInAttempts {
  readonly limits: AttemptLimits;
  readonly failures: FailedSignIns;
}

/** Creates the limits of sign-ins, and starts the recorder of those that fail. */
export function startSignInAttempts(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly log: Logger;
  readonly shutdown: Shutdown;
}): SignInAttempts {
  const limits = createAttemptLimits(deps.pool, {
    name: 'login',
    perSubject: 100,
    perPair: 10,
    perAddress: 100,
    message: 'Too many failed sign-ins: try again later',
  });
  const failures = createFailedSignIns(deps);
  failures.start();
  deps.shutdown.on('flush', 'failed sign-ins', failures.stop);
  return { limits, failures };
}

/** Registers login and logout. */
export function registerSessions(app: App, deps: Parameters<typeof createSessionService>[0]): SessionService {
  const sessions = createSessionService(deps);
  loginRoutes(app, sessions);
  logoutRoutes(app, sessions);
  return sessions;
}
