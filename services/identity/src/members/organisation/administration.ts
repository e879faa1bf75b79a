import { adminRequired } from '@platform/auth';
import { AppError } from '@platform/service-kit';
import { queryRows, type SqlClient } from '../../base/transaction.js';
import type { Prisma, Transaction } from '../../resources.js';
import { lockOrganisation } from './queries.js';

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
  if ((await queryRows(tx, administrator, [userId, orgId])).length === 0) throw new AppError(adminRequired);
}

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
