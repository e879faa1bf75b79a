import type { PageWindow } from '@platform/service-kit';
import type { Prisma as Client } from '../../resources.js';

const columns = {
  id: true,
  orgId: true,
  subject: true,
  fromAddress: true,
  toAddresses: true,
  ccAddresses: true,
  refusedAddresses: true,
  templateType: true,
  state: true,
  problem: true,
  canResend: true,
  createdAt: true,
  updatedAt: true,
} as const;

export type RecordRow = NonNullable<Awaited<ReturnType<typeof findRecord>>>;

export async function countRecords(db: Client, orgId: string): Promise<number> {
  const counters = await db.mailCounters.findUnique({ where: { orgId }, select: { sent: true } });
  return Number(counters?.sent ?? 0);
}

/** Finds the ids of the page with the index alone, and reads only the rows of that page. */
export async function findRecords(db: Client, orgId: string, window: PageWindow): Promise<RecordRow[]> {
  const page = await db.mail.findMany({
    where: { orgId, state: 'sent' },
    orderBy: { id: window.isFromEnd ? 'asc' : 'desc' },
    skip: window.offset,
    take: window.count,
    select: { id: true },
  });
  return findByIds(db, orgId, page.map(({ id }) => id)); // prettier-ignore
}

export const findByIds = (db: Client, orgId: string, ids: readonly string[]): Promise<RecordRow[]> =>
  db.mail.findMany({
    where: { id: { in: [...ids] }, orgId },
    orderBy: { id: 'desc' },
    select: columns,
  });

export const findRecord = (db: Client, orgId: string, id: string) =>
  db.mail.findFirst({ where: { id, orgId }, select: columns });
