import { createPool, type Shutdown, type Logger } from '@platform/service-kit';
import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { PrismaClient } from './generated/prisma/client.js';

/** The resources that the process holds open. */
export interface Resources {
  /** Serves every query except liveness. */
  readonly pool: pg.Pool;
  /** A pool of two connections for the liveness query of each request, so that no slow query delays it. */
  readonly livenessPool: pg.Pool;
  readonly prisma: PrismaClient;
  readonly log: Logger;
}

export type Prisma = PrismaClient;
export type Transaction = Parameters<Parameters<PrismaClient['$transaction']>[0]>[0];

/** The number of liveness batches that run concurrently; each uses one connection. */
export const LIVENESS_CONNECTIONS = 2;

export function openResources(options: {
  readonly databaseUrl: string;
  readonly maxConnections: number;
  /** The time limit of a query. */
  readonly timeoutMs: number;
  readonly log: Logger;
  readonly shutdown: Shutdown;
}): Resources {
  const { databaseUrl: connectionString, timeoutMs, log, shutdown } = options;
  const pool = createPool({
    connectionString,
    applicationName: 'identity',
    maxConnections: options.maxConnections,
    timeoutMs,
    log,
  });
  const livenessPool = createPool({
    connectionString,
    applicationName: 'identity-liveness',
    maxConnections: LIVENESS_CONNECTIONS,
    timeoutMs,
    log,
  });
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool), errorFormat: 'minimal' });
  shutdown.on('close', 'prisma', () => prisma.$disconnect());
  shutdown.on('close', 'database', () => Promise.all([pool.end(), livenessPool.end()]));
  return { pool, livenessPool, prisma, log };
}
