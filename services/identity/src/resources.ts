import { createPool, type Logger, type ResourceOptions } from '@platform/service-kit';
import type pg from 'pg';
import { openPrisma, type Prisma } from './prisma.js';

/** The resources that the process holds open. */
export interface Resources {
  /** Serves every query except those of the other pools. */
  readonly pool: pg.Pool;
  /** A pool of two connections for the liveness query of each request, so that no slow query delays it. */
  readonly livenessPool: pg.Pool;
  /** A pool for what is sent to destinations of facts, so that no backlog delays requests. */
  readonly deliveryPool: pg.Pool;
  readonly prisma: Prisma;
  readonly log: Logger;
}

/** The number of liveness batches that run concurrently; each uses one connection. */
export const LIVENESS_CONNECTIONS = 2;

/** The connections for destinations of facts. */
const DELIVERY_CONNECTIONS = 3;

export function openResources({ databaseUrl: connectionString, ...options }: ResourceOptions): Resources {
  const pool = createPool({ ...options, connectionString, applicationName: 'identity' });
  const livenessPool = createPool({
    ...options,
    connectionString,
    applicationName: 'identity-liveness',
    maxConnections: LIVENESS_CONNECTIONS,
    // Planning the statement for each batch would take as long as executing it.
    settings: { plan_cache_mode: 'force_generic_plan' },
  });
  const deliveryPool = createPool({
    ...options,
    connectionString,
    applicationName: 'identity-deliveries',
    maxConnections: DELIVERY_CONNECTIONS,
  });
  return { pool, livenessPool, deliveryPool, prisma: openPrisma(pool), log: options.log };
}
