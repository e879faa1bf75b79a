import type { Clock } from '@platform/service-kit';
import { notFound } from '@platform/service-kit';
import type { Prisma, Transaction } from '../../prisma.js';
import { type Actor, type Caller, platformActor, toActor } from '../../base/caller/actor.js';
import { insertAuditEntry } from '../../audit/record.sql.js';
import { notifyOfCommand } from '../../members/operator-notices/notify.js';
import { endSessions } from '../sessions/queries.js';
import { changeAsAdministrator } from '../../members/organisation/administration.js';
import { userNotFound } from '../../members/members/errors.js';
import { findUserByEmail } from '../../members/members/queries.js';
import { noSecondFactor, ownSecondFactor } from './errors.js';
import type { SecondFactorContext } from './context.js';
import { addNotice } from './notices.js';
import { deleteChallenges } from '../passkeys/challenges.js';
import { deletePasskeys } from '../passkeys/queries.js';
import { deleteRecoveryCodes, deleteTotp, lockFactors } from './queries.js';

/** Removes the second factor of an account, and ends its sessions: whoever lost a device may have lost it to somebody. */
async function removeFactors(
  tx: Transaction,
  member: { readonly orgId: string; readonly userId: string },
  by: { readonly actor: Actor; readonly reason: 'reset' | 'command'; readonly at: Date },
): Promise<void> {
  const { orgId, userId } = member;
  if (!(await lockFactors(tx, member))) throw userNotFound();
  const hadTotp = await deleteTotp(tx, member);
  const passkeys = await deletePasskeys(tx, member);
  if (!hadTotp && passkeys === 0) throw noSecondFactor();
  await deleteChallenges(tx, userId);
  await deleteRecoveryCodes(tx, userId);
  const sessionsEnded = String(await endSessions(tx, userId, by.at));
  const entry = { orgId, subjectId: userId, ...by, detail: { sessionsEnded } };
  await insertAuditEntry(tx, { ...entry, action: 'second_factor.reset' });
}

/**
 * Removes a member's second factor, for an administrator. The member is mailed.
 *
 * @throws AppError 403 ADMIN_REQUIRED; 404; 409 NO_SECOND_FACTOR, and OWN_SECOND_FACTOR for the caller's own, which needs
 *   the password.
 */
export async function resetSecondFactor(
  ctx: Pick<SecondFactorContext, 'prisma' | 'outbox' | 'clock'>,
  caller: Caller,
  userId: string,
): Promise<void> {
  if (userId === caller.userId) throw ownSecondFactor();
  await changeAsAdministrator(ctx, caller, async ({ tx, at }) => {
    const member = { orgId: caller.orgId, userId };
    await removeFactors(tx, member, { actor: toActor(caller), reason: 'reset', at });
    await addNotice(ctx, tx, userId, 'secondFactorReset', { client: null, at });
  });
  ctx.outbox.wake();
}

/** Removes an account's second factor, for an operator. The account and its administrators are mailed. @throws AppError 404; 409 NO_SECOND_FACTOR. */
export async function resetByCommand(
  { prisma, clock }: { readonly prisma: Prisma; readonly clock: Clock },
  email: string,
): Promise<void> {
  const at = new Date(clock());
  await prisma.$transaction(async (tx) => {
    const account = await findUserByEmail(tx, email);
    if (!account) throw notFound(`Nobody has the e-mail address ${email}`);
    const member = { orgId: account.orgId, userId: account.id };
    await removeFactors(tx, member, { actor: platformActor, reason: 'command', at });
    await notifyOfCommand(tx, {
      ...member,
      topic: 'second-factor-reset-by-command',
      alert: { notice: 'secondFactorResetByOperator', email },
      at,
    });
  });
}
