import { createPool, type Logger, type ResourceOptions } from '@platform/service-kit';
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

export function openResources({ databaseUrl: connectionString, ...options }: ResourceOptions): Resources {
  const pool = createPool({ ...options, connectionString, applicationName: 'mail', settings: planEachTime });
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool), errorFormat: 'minimal' });
  return { pool, prisma, log: options.log };
}
