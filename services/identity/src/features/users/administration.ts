import { adminRequired } from '@platform/auth';
import { AppError } from '@platform/service-kit';
import type { Transaction } from '../../resources.js';
import { lockOrganisation } from '../organisations/queries.js';
import { findMember } from './queries.js';

/**
 * Serialises the changes that only administrators may make, and checks again that the caller is one: an administrator
 * who was demoted or removed since the request arrived must not be able to undo that with it.
 *
 * @throws AppError 403 ADMIN_REQUIRED.
 */
export async function lockAdministration(
  tx: Transaction,
  { orgId, userId }: { readonly orgId: string; readonly userId: string },
): Promise<void> {
  await lockOrganisation(tx, orgId);
  const caller = await findMember(tx, orgId, userId);
  if (caller?.role !== 'admin') throw new AppError(adminRequired);
}
