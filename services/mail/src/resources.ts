import { createPool, type Logger, type ResourceOptions } from '@platform/service-kit';
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

/** A sender is considered dead after 10 s: a lost heartbeat leaves time for others. */
const MAX_HEARTBEAT_MS = 2_000;

/** Otherwise a prepared statement would keep the plan that was best for a small table, a sequential scan. */
const planEachTime = { plan_cache_mode: 'force_custom_plan' };

export function openResources({ databaseUrl: connectionString, ...options }: ResourceOptions): Resources {
  const pool = createPool({ ...options, connectionString, applicationName: 'mail', settings: planEachTime });
  const heartbeatPool = createPool({
    ...options,
    connectionString,
    applicationName: 'mail-heartbeat',
    maxConnections: 1,
    timeoutMs: Math.min(options.timeoutMs, MAX_HEARTBEAT_MS),
  });
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool), errorFormat: 'minimal' });
  return { pool, heartbeatPool, prisma, log: options.log };
}
