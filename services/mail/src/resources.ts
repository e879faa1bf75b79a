import { createPool, type Logger, type Shutdown } from '@platform/service-kit';
import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { PrismaClient } from './generated/prisma/client.js';

/** What the process holds open. */
export interface Resources {
  readonly pool: pg.Pool;
  readonly prisma: PrismaClient;
  readonly log: Logger;
}

export type Prisma = PrismaClient;

/** Without it, a prepared statement keeps the plan that was best when the table was small: reading all of it. */
const planEachTime = { plan_cache_mode: 'force_custom_plan' };

export function openResources(options: {
  readonly databaseUrl: string;
  readonly maxConnections: number;
  /** How long connecting may take, and how long a statement. */
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
