import type { Prisma as Client, Transaction } from '../../resources.js';

export interface SmtpConfigurationRow {
  readonly host: string;
  readonly port: number;
  readonly fromEmail: string;
  readonly username: string | null;
  readonly passwordSealed: string | null;
  readonly tls: string;
}

export const findSmtpConfiguration = (db: Client, orgId: string): Promise<SmtpConfigurationRow | null> =>
  db.smtpConfiguration.findUnique({ where: { orgId }, omit: { orgId: true, updatedAt: true } });

export const upsertSmtpConfiguration = (
  db: Transaction,
  orgId: string,
  row: SmtpConfigurationRow,
  updatedAt: Date,
): Promise<unknown> =>
  db.smtpConfiguration.upsert({
    where: { orgId },
    create: { orgId, ...row, updatedAt },
    update: { ...row, updatedAt },
    select: { orgId: true },
  });

/** @returns whether there was one. */
export async function deleteSmtpConfiguration(db: Transaction, orgId: string): Promise<boolean> {
  const { count } = await db.smtpConfiguration.deleteMany({ where: { orgId } });
  return count > 0;
}
