import type { PageWindow } from '@platform/service-kit';
import type { Prisma } from './prisma.js';

/** A bounded count: no more than some hundreds are kept of each connector of an organisation. */
export const countRuns = (db: Prisma, orgId: string, connector: string): Promise<number> =>
  db.run.count({ where: { orgId, connector } });

/** Returns the rows newest first. */
export async function findRuns(
  db: Prisma,
  orgId: string,
  connector: string,
  { isFromEnd, offset, count }: PageWindow,
) {
  const rows = await db.run.findMany({
    where: { orgId, connector },
    orderBy: { id: isFromEnd ? 'asc' : 'desc' },
    skip: offset,
    take: count,
  });
  return isFromEnd ? rows.toReversed() : rows;
}

export type RunHistoryRow = Awaited<ReturnType<typeof findRuns>>[number];
