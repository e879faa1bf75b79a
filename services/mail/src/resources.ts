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

/**
 * A prepared statement keeps the plan that was best when the table was small: reading all of it. Every statement here
 * finds its rows by an index, so nested loops over indexes are all that the planner may choose.
 */
const indexesOnly = { enable_seqscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off' };

export function openResources(options: {
  readonly databaseUrl: string;
  readonly connectionsMax: number;
  /** How long connecting may take, and how long a statement. */
  readonly timeoutMs: number;
  readonly log: Logger;
  readonly shutdown: Shutdown;
}): Resources {
  const { databaseUrl: connectionString, connectionsMax, timeoutMs, log, shutdown } = options;
  const pool = createPool({
    connectionString,
    applicationName: 'mail',
    connectionsMax,
    timeoutMs,
    settings: indexesOnly,
    log,
  });
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool), errorFormat: 'minimal' });
  shutdown.on('close', 'prisma', () => prisma.$disconnect());
  shutdown.on('close', 'database', () => pool.end());
  return { pool, prisma, log };
}
