import { createPool, type Logger, type Shutdown } from '@platform/service-kit';
import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { PrismaClient } from './generated/prisma/client.js';

/** The connections and the logger that live as long as the process. */
export interface Resources {
  readonly pool: pg.Pool;
  /** One connection for the heartbeats, so that no other statement delays them. */
  readonly heartbeatPool: pg.Pool;
  readonly prisma: PrismaClient;
  readonly log: Logger;
}

export type Prisma = PrismaClient;

/** Otherwise a prepared statement would keep the plan that was best for a small table, a sequential scan. */
const planEachTime = { plan_cache_mode: 'force_custom_plan' };

/** A sender is considered dead after 10 s: a lost heartbeat leaves time for others. */
const MAX_HEARTBEAT_MS = 2_000;

export function openResources(options: {
  readonly databaseUrl: string;
  readonly maxConnections: number;
  /** The time limit of a query. */
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
  const heartbeatPool = createPool({
    connectionString,
    applicationName: 'mail-heartbeat',
    maxConnections: 1,
    timeoutMs: Math.min(timeoutMs, MAX_HEARTBEAT_MS),
    log,
  });
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool), errorFormat: 'minimal' });
  shutdown.on('close', 'prisma', () => prisma.$disconnect());
  shutdown.on('close', 'database', () => Promise.all([pool.end(), heartbeatPool.end()]));
  return { pool, heartbeatPool, prisma, log };
}
