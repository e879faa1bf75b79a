import type { Liveness } from '@platform/auth';
import type { Clock, Logger, Shutdown } from '@platform/service-kit';
import type pg from 'pg';
import { createLastUsed } from './last-used.js';
import { recordAccessTokenUses, recordTokenUses } from './last-used.sql.js';
import { createRefusedUses, type RefusedUses } from './refused-uses.js';
import { createDatabaseLiveness } from './service.js';

interface StartedLiveness {
  readonly liveness: Liveness;
  readonly refusedUses: RefusedUses;
}

/** Creates the liveness check, and starts the recorders of what it sees: uses of live tokens, and refused uses. */
export function startLiveness(deps: {
  readonly pool: pg.Pool;
  readonly livenessPool: pg.Pool;
  readonly clock: Clock;
  readonly log: Logger;
  readonly shutdown: Shutdown;
}): StartedLiveness {
  const { livenessPool, clock, shutdown } = deps;
  const lastUsed = createLastUsed({ ...deps, write: recordTokenUses });
  const accessTokensUsed = createLastUsed({ ...deps, write: recordAccessTokenUses });
  const refusedUses = createRefusedUses(deps);
  lastUsed.start();
  accessTokensUsed.start();
  refusedUses.start();
  shutdown.on('flush', 'last-used times', () => Promise.all([lastUsed.stop(), accessTokensUsed.stop()]));
  shutdown.on('flush', 'refused uses', refusedUses.stop);
  const recorders = { lastUsed, accessTokensUsed, refusedUses };
  return {
    liveness: createDatabaseLiveness({ pool: livenessPool, ...recorders, clock }),
    refusedUses,
  };
}
