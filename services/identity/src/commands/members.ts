import type { Clock } from '@platform/service-kit';
import { insertAuditEntry } from '../audit/record.sql.js';
import { platformActor } from '../base/caller/actor.js';
import { lastAdmin, userNotFound } from '../members/members/errors.js';
import { findUserByEmail, markRemoved } from '../members/members/queries.js';
import { isLastAdmin } from '../members/members/service.js';
import { notifyOfCommand } from '../members/operator-notices/notify.js';
import { lockOrganisation } from '../members/organisation/organisation.sql.js';
import type { Prisma } from '../prisma.js';

/**
 * Removes a member of whichever organisation has the address, for an operator whom its owner asks. The administrators are mailed.
 *
 * @returns the id of the organisation.
 * @throws AppError 404; 409 LAST_ADMIN.
 */
export async function removeMember(
  { prisma, clock }: { readonly prisma: Prisma; readonly clock: Clock },
  email: string,
): Promise<string> {
  const at = new Date(clock());
  return prisma.$transaction(async (tx) => {
    const found = await findUserByEmail(tx, email);
    if (!found) throw userNotFound();
    const { orgId, id: userId } = found;
    await lockOrganisation(tx, orgId);
    const account = await findUserByEmail(tx, email);
    if (account?.id !== userId) throw userNotFound();
    if (await isLastAdmin(tx, account)) throw lastAdmin();
    await markRemoved(tx, userId, { actor: platformActor, at });
    await insertAuditEntry(tx, {
      orgId,
      action: 'user.removed',
      actor: platformActor,
      subjectId: userId,
      reason: 'command',
      at,
    });
    await notifyOfCommand(tx, {
      orgId,
      topic: 'member-removed-by-command',
      alert: { notice: 'memberRemovedByOperator', email },
      at,
    });
    return orgId;
  });
}
