import { createPool, type Shutdown, type Logger } from '@platform/service-kit';
import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { PrismaClient } from './generated/prisma/client.js';

/** What the process holds open. */
export interface Resources {
  /** Everything but liveness. */
  readonly pool: pg.Pool;
  /** Two connections for the question of every request, so that no slow query stands before it. */
  readonly livenessPool: pg.Pool;
  readonly prisma: PrismaClient;
  readonly log: Logger;
}

export type Prisma = PrismaClient;
export type Transaction = Parameters<Parameters<PrismaClient['$transaction']>[0]>[0];

/** Batches of liveness questions under way at once; one connection each. */
export const LIVENESS_CONNECTIONS = 2;

export function openResources(options: {
  readonly databaseUrl: string;
  readonly maxConnections: number;
  /** How long connecting may take, and how long a statement. */
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
