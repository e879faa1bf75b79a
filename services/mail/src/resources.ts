import { createPool, type Logger, type ResourceOptions } from '@platform/service-kit';
import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { JOURNAL_CONNECTIONS } from './config.js';
import { PrismaClient } from './generated/prisma/client.js';

/** The connections and the logger that live as long as the process. */
export interface Resources {
  /** Serves every query except those of the journal. */
  readonly pool: pg.Pool;
  /** A pool for what stores, begins and ends mails, so that no slow query delays it. */
  readonly journalPool: pg.Pool;
  readonly prisma: PrismaClient;
  readonly log: Logger;
}

export type Prisma = PrismaClient;

/** Otherwise a prepared statement would keep the plan that was best for a small table, a sequential scan. */
const planEachTime = { plan_cache_mode: 'force_custom_plan' };

/**
 * The statements of the journal find rows by their ids. Planning one for each batch would take longer than executing it, and the
 * plan that is kept must not be that of a small table.
 */
const planOnce = { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off' };

export function openResources({ databaseUrl: connectionString, ...options }: ResourceOptions): Resources {
  const common = { ...options, connectionString };
  const pool = createPool({
    ...common,
    applicationName: 'mail',
    maxConnections: options.maxConnections - JOURNAL_CONNECTIONS,
    settings: planEachTime,
  });
  const journalPool = createPool({
    ...common,
    applicationName: 'mail-journal',
    maxConnections: JOURNAL_CONNECTIONS,
    settings: planOnce,
  });
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool), errorFormat: 'minimal' });
  return { pool, journalPool, prisma, log: options.log };
}
