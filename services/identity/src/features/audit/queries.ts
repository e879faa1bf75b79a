import type { PageWindow } from '@platform/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Prisma as Client, Transaction } from '../../resources.js';

/** What is written down, and by what name. */
export const auditActions = [
  'configuration.smtp_saved',
  'configuration.smtp_removed',
  'invitation.accepted',
  'organisation.created',
  'password.changed',
  'session.created',
  'session.ended',
  'token.created',
  'token.first_used',
  'token.revoked',
  'user.created',
  'user.invited',
  'user.changed',
  'user.role_changed',
  'user.removed',
] as const;
export type AuditAction = (typeof auditActions)[number];

export interface NewAuditEntry {
  readonly orgId: string;
  readonly action: AuditAction;
  readonly actorId: string | null;
  readonly subjectId: string;
  readonly reason?: string | null;
  readonly detail?: Readonly<Record<string, string>>;
  readonly at: Date;
}

export interface AuditRow {
  readonly id: string;
  readonly action: string;
  readonly actorId: string | null;
  readonly subjectId: string | null;
  readonly reason: string | null;
  readonly detail: unknown;
  readonly createdAt: Date;
}

/** Written in the transaction of what it tells of. */
export const insertAuditEntry = (db: Client | Transaction, entry: NewAuditEntry): Promise<unknown> =>
  db.auditEntry.create({
    data: {
      id: uuidv7(),
      orgId: entry.orgId,
      action: entry.action,
      actorId: entry.actorId,
      subjectId: entry.subjectId,
      reason: entry.reason ?? null,
      detail: entry.detail ?? {},
      createdAt: entry.at,
    },
    select: { id: true },
  });

export async function countAuditEntries(db: Client, orgId: string): Promise<number> {
  const counters = await db.organisationCounters.findUnique({
    where: { orgId },
    select: { auditEntries: true },
  });
  return Number(counters?.auditEntries ?? 0);
}

/** The page is found in the index alone; only its rows are read. */
export async function findAuditEntries(db: Client, orgId: string, window: PageWindow): Promise<AuditRow[]> {
  const page = await db.auditEntry.findMany({
    where: { orgId },
    orderBy: { id: window.isFromEnd ? 'asc' : 'desc' },
    skip: window.offset,
    take: window.count,
    select: { id: true },
  });
  return db.auditEntry.findMany({
    where: { orgId, id: { in: page.map(({ id }) => id) } },
    orderBy: { id: 'desc' },
    omit: { orgId: true },
  });
}
