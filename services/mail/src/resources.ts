import { createPool, type Logger, type Shutdown } from '@platform/service-kit';
import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { PrismaClient } from './generated/prisma/client.js';

/** The connections and the logger that live as long as the process. */
export interface Resources {
  readonly pool: pg.Pool;
  readonly prisma: PrismaClient;
  readonly log: Logger;
}

export type Prisma = PrismaClient;

/** Otherwise a prepared statement would keep the plan that was best for a small table, a sequential scan. */
const planEachTime = { plan_cache_mode: 'force_custom_plan' };

export function openResources(options: {
  readonly databaseUrl: string;
  readonly maxConnections: number;
  /** Applies to connecting and to each statement. */
  readonly timeoutMs: number;
  readonly log: Logger;
  readonly shutdown: Shutdown;
}): Resources {
  const { databaseUrl: connectionString, maxConnections, timeoutMs, log, shutdown } = options;
  const pool = createPool({
    connectionString,
    applicationName: 'mail',
    maxConnections,
    timeoutMs,
    settings: planEachTime,
    log,
  });
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool), errorFormat: 'minimal' });
  shutdown.on('close', 'prisma', () => prisma.$disconnect());
  shutdown.on('close', 'database', () => pool.end());
  return { pool, prisma, log };
}
