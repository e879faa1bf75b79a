import { Prisma } from '../../generated/prisma/client.js';
import type { Prisma as Client, Transaction } from '../../prisma.js';
import type { Changes } from '../../audit/record.sql.js';
import type { SmtpAuth } from './schemas.js';

export interface SmtpConfigurationRow {
  readonly host: string;
  readonly port: number;
  readonly fromEmail: string;
  readonly username: string | null;
  readonly auth: SmtpAuth | null;
  /** The password, or the secrets of `auth`. */
  readonly secretSealed: string | null;
  readonly tls: string;
}

export async function findSmtpConfiguration(
  db: Client | Transaction,
  orgId: string,
): Promise<SmtpConfigurationRow | null> {
  const row = await db.smtpConfiguration.findUnique({
    where: { orgId },
    omit: { orgId: true, updatedAt: true },
  });
  return row && { ...row, auth: row.auth as SmtpAuth | null };
}

export function upsertSmtpConfiguration(
  db: Transaction,
  orgId: string,
  row: SmtpConfigurationRow,
  updatedAt: Date,
): Promise<unknown> {
  const fields = { ...row, auth: row.auth ?? Prisma.DbNull, updatedAt };
  return db.smtpConfiguration.upsert({
    where: { orgId },
    create: { orgId, ...fields },
    update: fields,
    select: { orgId: true },
  });
}

/** @returns false when there was none. */
export async function deleteSmtpConfiguration(db: Transaction, orgId: string): Promise<boolean> {
  const { count } = await db.smtpConfiguration.deleteMany({ where: { orgId } });
  return count > 0;
}

/** A server that the organisation used before. A field is null when the audit doesn't record it. */
export type RemovedServer = Readonly<Record<'host' | 'port' | 'fromEmail', string | number | null>>;

/** @returns the configuration that was removed last, read from the audit; undefined when none was ever removed. */
export async function findRemovedServer(db: Transaction, orgId: string): Promise<RemovedServer | undefined> {
  const entry = await db.auditEntry.findFirst({
    where: { orgId, action: 'configuration.smtp_removed' },
    orderBy: { id: 'desc' },
    select: { changes: true },
  });
  if (!entry) return undefined;
  const changes = entry.changes as Changes;
  const getOldValue = (field: string) => changes[field]?.from ?? null;
  return { host: getOldValue('host'), port: getOldValue('port'), fromEmail: getOldValue('fromEmail') };
}
