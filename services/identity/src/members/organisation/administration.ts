import { adminRequired } from '@platform/auth';
import { AppError, type Clock } from '@platform/service-kit';
import { insertAuditEntry, type NewAuditEntry } from '../../audit/record.sql.js';
import { type Caller, toActor } from '../../base/caller/actor.js';
import type { SqlClient } from '../../base/sql-client.js';
import type { Prisma, Transaction } from '../../prisma.js';
import { lockOrganisation } from './organisation.sql.js';

const administrator = `
  select id::text from users where id = $1::uuid and org_id = $2::uuid and removed_at is null and role = 'admin'`;

/**
 * Serialises the changes that only administrators may make, and checks again that the caller is one: an administrator
 * who was demoted or removed since the request arrived must not be able to undo that with it.
 *
 * @throws AppError 403 ADMIN_REQUIRED.
 */
export async function lockAdministration(
  tx: SqlClient,
  { orgId, userId }: { readonly orgId: string; readonly userId: string },
): Promise<void> {
  await lockOrganisation(tx, orgId);
  if ((await tx.query(administrator, [userId, orgId])).rows.length === 0) throw new AppError(adminRequired);
}

/** A change that an administrator makes. */
export interface Administration {
  readonly tx: Transaction;
  readonly at: Date;
  /** Records the change in the audit, in its transaction. */
  readonly record: (entry: Omit<NewAuditEntry, 'orgId' | 'actor' | 'at'>) => Promise<unknown>;
}

/**
 * Runs a change that only administrators may make, in a transaction.
 *
 * @throws AppError 403 ADMIN_REQUIRED when the caller is no longer an administrator.
 */
export const changeAsAdministrator = <T>(
  { prisma, clock }: { readonly prisma: Prisma; readonly clock: Clock },
  caller: Caller,
  run: (administration: Administration) => Promise<T>,
): Promise<T> =>
  prisma.$transaction(async (tx) => {
    await lockAdministration(tx, caller);
    const { orgId } = caller;
    const at = new Date(clock());
    const actor = toActor(caller);
    return run({ tx, at, record: (entry) => insertAuditEntry(tx, { ...entry, orgId, actor, at }) });
  });

export interface Administrator {
  readonly id: string;
  readonly orgId: string;
  readonly email: string;
  readonly fullName: string;
  readonly language: string | null;
  readonly organisation: { readonly name: string };
}

/** Finds the administrators who can log in. */
export const findAdministrators = (db: Prisma | Transaction, orgId: string): Promise<Administrator[]> =>
  db.user.findMany({
    where: { orgId, role: 'admin', removedAt: null, passwordHash: { not: null } },
    select: {
      id: true,
      orgId: true,
      email: true,
      fullName: true,
      language: true,
      organisation: { select: { name: true } },
    },
  });
