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

/** @returns the records, newest first. */
export const findByIds = (db: Client, orgId: string, ids: readonly string[]) =>
  db.mail.findMany({
    where: { id: { in: [...ids] }, orgId },
    orderBy: { id: 'desc' },
    select: columns,
  });

export type RecordRow = Awaited<ReturnType<typeof findByIds>>[number];

/** @returns null when there is no such mail. */
export const findContent = (db: Client, orgId: string, id: string) =>
  db.mail.findFirst({ where: { id, orgId }, select: { sealedContent: true, templateType: true } });
