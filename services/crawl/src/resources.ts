import { createPool, type Logger, type ResourceOptions } from '@platform/service-kit';
import type pg from 'pg';
import { createPrisma, type Prisma } from './db/prisma.js';

/** The connections and the log of the process; the queues are opened separately. */
export interface Resources {
  readonly pool: pg.Pool;
  readonly prisma: Prisma;
  readonly log: Logger;
}

export function openResources({ databaseUrl: connectionString, ...options }: ResourceOptions): Resources {
  const pool = createPool({ ...options, connectionString, applicationName: 'crawl' });
  return { pool, prisma: createPrisma(pool), log: options.log };
}
