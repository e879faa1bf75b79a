import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { Prisma as Generated, PrismaClient } from './generated/prisma/client.js';

/** Lets a client and its transactions execute plain SQL in the form of pg (`SqlClient`), as transactions of pg do. */
export const extendBySql = (client: PrismaClient) =>
  client.$extends({
    client: {
      // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as pg types its rows
      async query<Row extends object>(text: string, values: readonly unknown[]): Promise<{ rows: Row[] }> {
        const db = Generated.getExtensionContext(this) as unknown as Pick<PrismaClient, '$queryRawUnsafe'>;
        return { rows: await db.$queryRawUnsafe<Row[]>(text, ...values) };
      },
    },
  });

/** Opens a client that shares the connections of the pool. */
export const openPrisma = (pool: pg.Pool) =>
  extendBySql(
    new PrismaClient({
      adapter: new PrismaPg(pool),
      errorFormat: 'minimal',
      // The pool gives up first, with an error that means "try again".
      transactionOptions: { maxWait: 2 * (pool.options.connectionTimeoutMillis ?? 1_000) },
    }),
  );

export type Prisma = ReturnType<typeof openPrisma>;
export type Transaction = Parameters<Parameters<Prisma['$transaction']>[0]>[0];
