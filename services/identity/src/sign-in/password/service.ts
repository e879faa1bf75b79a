import type { Clock } from '@platform/service-kit';
import { type Caller, toActor } from '../../base/caller/actor.js';
import { insertAuditEntry } from '../../audit/record.sql.js';
import { describeRequest } from '../../base/caller/client.js';
import { revokeSecrets } from '../../mails/one-time-secrets/service.js';
import type { Outbox } from '../../mails/outbox/outbox.js';
import { assertUncommonPassword } from '../../base/common-passwords.js';
import { isProven } from '../../base/passwords.js';
import { endSessions } from '../sessions/queries.js';
import { replacePassword } from '../../members/members/queries.js';
import { confirmPassword, type PasswordContext, wrongPassword } from './confirm-password.js';
import type { ChangePasswordBody } from './schemas.js';

export interface OwnPasswordContext extends PasswordContext {
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly findOrganisationName: (orgId: string) => Promise<string>;
}

/**
 * Changes the caller's password. All other sessions end, and so do mailed codes and links; tokens stay.
 *
 * @returns how many sessions were ended.
 * @throws AppError 400 WRONG_PASSWORD; 400 for a password that is easily guessed; 429, since a stolen session must not be able to guess the password.
 */
export async function changeOwnPassword(
  ctx: OwnPasswordContext,
  caller: Caller,
  { currentPassword, newPassword }: ChangePasswordBody,
): Promise<number> {
  const { prisma, passwords, outbox, clock } = ctx;
  const { orgId, userId, credentialId, client, email, fullName } = caller;
  const currentHash = await confirmPassword(ctx, caller, currentPassword);
  const organisation = await ctx.findOrganisationName(orgId);
  assertUncommonPassword('newPassword', newPassword, { email, fullName, organisation });
  const newHash = await passwords.hash(newPassword, isProven);
  const at = new Date(clock());
  const ended = await prisma.$transaction(async (tx) => {
    // Of two changes at the same time, the second one no longer knows the password.
    if (!(await replacePassword(tx, userId, currentHash, newHash))) throw wrongPassword();
    await revokeSecrets(tx, userId);
    const count = await endSessions(tx, userId, at, { keptId: credentialId });
    await insertAuditEntry(tx, {
      orgId,
      action: 'password.changed',
      actor: toActor(caller),
      subjectId: userId,
      reason: 'changed',
      detail: { sessionsEnded: String(count) },
      at,
    });
    const detail = describeRequest(client, at);
    const mail = { kind: 'password_changed', to: { userId }, detail, requestId: client.requestId } as const;
    await outbox.add(tx, mail, at);
    return count;
  });
  outbox.wake();
  return ended;
}
