import type { App, Clock, Logger, Shutdown } from '@platform/service-kit';
import type pg from 'pg';
import type { Prisma } from '../../resources.js';
import { createAttemptLimits } from '../attempt-limits/attempt-limits.js';
import { createRecordSignIn } from '../known-devices/service.js';
import type { OneTimeSecrets } from '../one-time-secrets/service.js';
import type { Outbox } from '../outgoing-mails/outbox.js';
import type { SigningKeys, SignJwt } from '../signing-keys/service.js';
import { createFailedSignIns } from './failed-sign-ins.js';
import { createOpenSession } from './open-session.js';
import type { Passwords } from './passwords.js';
import { loginRoutes, logoutRoutes } from './routes.js';
import { createSessionService } from './service.js';

/** Registers login and logout, and starts the recorder of failed sign-ins. */
export function registerSessions(
  app: App,
  deps: {
    readonly pool: pg.Pool;
    readonly prisma: Prisma;
    readonly keys: SigningKeys;
    readonly signJwt: SignJwt;
    readonly passwords: Passwords;
    readonly secrets: OneTimeSecrets;
    readonly outbox: Outbox;
    readonly clock: Clock;
    readonly log: Logger;
    readonly shutdown: Shutdown;
  },
) {
  const openSession = createOpenSession({ ...deps, recordSignIn: createRecordSignIn(deps.outbox) });
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
  const sessions = createSessionService({ ...deps, openSession, limits, failures });
  loginRoutes(app, sessions);
  logoutRoutes(app, sessions);
  return { sessions, openSession, limits, failures };
}
