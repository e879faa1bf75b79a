import type { ListWindow } from '@platform/service-kit';
import { Prisma as Sql } from '../../generated/prisma/client.js';
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

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * Finds the ids of the page with the index `mails_sent` alone, and reads only the rows of that page. The index is used
 * only when the state is a literal.
 */
export async function findRecords(
  db: Client,
  orgId: string,
  { isFromEnd, offset, count, beforeId }: ListWindow,
): Promise<RecordRow[]> {
  const page = await db.$queryRaw<{ id: string }[]>`
    select id::text from mails
    where org_id = ${orgId}::uuid and state = 'sent' and id < ${beforeId ?? LAST_ID}::uuid
    order by mails.id ${isFromEnd ? Sql.sql`asc` : Sql.sql`desc`} limit ${count} offset ${offset}`;
  // prettier-ignore
  return findByIds(db, orgId, page.map(({ id }) => id));
}

export const findByIds = (db: Client, orgId: string, ids: readonly string[]): Promise<RecordRow[]> =>
  db.mail.findMany({
    where: { id: { in: [...ids] }, orgId },
    orderBy: { id: 'desc' },
    select: columns,
  });

/** @returns undefined when there is no such mail. */
export async function findContent(
  db: Client,
  orgId: string,
  id: string,
): Promise<{ readonly encrypted: string | null; readonly templateType: string } | undefined> {
  const row = await db.mail.findFirst({
    where: { id, orgId },
    select: { encryptedContent: true, templateType: true },
  });
  return row ? { encrypted: row.encryptedContent, templateType: row.templateType } : undefined;
}

export const findRecord = (db: Client, orgId: string, id: string) =>
  db.mail.findFirst({ where: { id, orgId }, select: columns });
