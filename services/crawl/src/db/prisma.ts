import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { PrismaClient } from '../generated/prisma/client.js';

export type Prisma = PrismaClient;

/** Returns a client that shares the connections of the pool. */
export const createPrisma = (pool: pg.Pool): Prisma =>
  new PrismaClient({ adapter: new PrismaPg(pool), errorFormat: 'minimal' });
