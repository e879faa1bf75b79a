import { AppError } from '@platform/service-kit';
import { adminRequired } from '../../authority.js';
import type { Transaction } from '../../resources.js';
import { lockOrganisation } from '../organisations/queries.js';
import { findMember } from './queries.js';

/**
 * Changes of an organisation's administrators, and what only they may change, one at a time. The caller was one when
 * the request came: whoever was demoted or removed since then must not undo it with a request that was under way.
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
