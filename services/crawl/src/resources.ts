import { createPool, type Logger, type Shutdown } from '@platform/service-kit';
import type pg from 'pg';
import { createPrisma, type Prisma } from './db/prisma.js';

/** What the process holds open, but for the queues. */
export interface Resources {
  readonly pool: pg.Pool;
  readonly prisma: Prisma;
  readonly log: Logger;
}

export function openResources(options: {
  readonly databaseUrl: string;
  readonly maxConnections: number;
  /** The time limit of a query. */
  readonly timeoutMs: number;
  readonly log: Logger;
  readonly shutdown: Shutdown;
}): Resources {
  const { databaseUrl: connectionString, maxConnections, timeoutMs, log, shutdown } = options;
  const pool = createPool({ connectionString, applicationName: 'crawl', maxConnections, timeoutMs, log });
  const prisma = createPrisma(pool);
  shutdown.on('close', 'database', async () => {
    await prisma.$disconnect();
    await pool.end();
  });
  return { pool, prisma, log };
}
