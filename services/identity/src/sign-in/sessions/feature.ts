import type { App, Clock, Logger, Shutdown } from '@platform/service-kit';
import type pg from 'pg';
import { type AttemptLimits, createAttemptLimits } from '../../base/rate-limits/attempt-limits.js';
import { createFailedSignIns, type FailedSignIns } from './failed-sign-ins.js';
import { loginRoutes, logoutRoutes } from './routes.js';
import type { SessionContext } from './service.js';

export interface SignInAttempts {
  /** The limits that all forms with a password share: a guess at one counts like a guess at another. */
  readonly limits: AttemptLimits;
  /**
   * The limits of mailed codes, so that guesses of passwords do not block them. Those of an account are counted with its
   * code.
   */
  readonly codeLimits: AttemptLimits;
  readonly failures: FailedSignIns;
}

/** Creates the limits of sign-ins, and starts the recorder of failed ones. */
export function startSignInAttempts(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly log: Logger;
  readonly shutdown: Shutdown;
}): SignInAttempts {
  // Each success opens a session and stays in the audit for long.
  const limit = {
    perPair: 10,
    perAddress: 100,
    successesPerSubject: 100,
    message: 'Too many sign-ins: try again later',
  };
  const limits = createAttemptLimits(deps.pool, {
    ...limit,
    name: 'login',
    perSubject: 100,
  });
  const codeLimits = createAttemptLimits(deps.pool, {
    ...limit,
    name: 'login-code',
  });
  const failures = createFailedSignIns(deps);
  failures.start();
  deps.shutdown.on('flush', 'failed sign-ins', failures.stop);
  return { limits, codeLimits, failures };
}

/** Registers login and logout. */
export function registerSessions(app: App, ctx: SessionContext): void {
  loginRoutes(app, ctx);
  logoutRoutes(app, ctx);
}
