import type { Prisma as Client } from '../../resources.js';

const columns = {
  id: true,
  orgId: true,
  subject: true,
  fromAddress: true,
  toAddresses: true,
  ccAddresses: true,
  templateType: true,
  state: true,
  problem: true,
  canResend: true,
  attempts: true,
  unknownAttempts: true,
  nextAttemptAt: true,
  expiresAt: true,
  createdAt: true,
  updatedAt: true,
  recipients: { select: { address: true, outcome: true, status: true } },
} as const;

export type RecordRow = NonNullable<Awaited<ReturnType<typeof findRecord>>>;

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
    select: { sealedContent: true, templateType: true },
  });
  return row ? { encrypted: row.sealedContent, templateType: row.templateType } : undefined;
}

export const findRecord = (db: Client, orgId: string, id: string) =>
  db.mail.findFirst({ where: { id, orgId }, select: columns });
