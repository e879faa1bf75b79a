import { AppError, type Clock } from '@platform/service-kit';
import type { Prisma } from '../../resources.js';
import type { AttemptLimits } from '../attempt-limits/attempt-limits.js';
import { type Caller, toActor } from '../audit/actor.js';
import { insertAuditEntry } from '../audit/queries.js';
import { describeRequest } from '../known-devices/client.js';
import { isKnownDevice } from '../known-devices/service.js';
import type { OneTimeSecrets } from '../one-time-secrets/service.js';
import type { Outbox } from '../outgoing-mails/outbox.js';
import type { FailedSignIns } from '../sessions/failed-sign-ins.js';
import type { Passwords } from '../sessions/passwords.js';
import { endSessions } from '../sessions/queries.js';
import { findMember, replacePassword } from '../users/queries.js';
import type { ChangePasswordBody } from './schemas.js';

const wrongPassword = (): AppError =>
  new AppError({ status: 400, code: 'WRONG_PASSWORD', message: 'The current password is wrong' });

/**
 * Changes the caller's password. All other sessions end, and so do mailed codes and links; tokens stay.
 *
 * @returns how many sessions were ended.
 * @throws AppError 400 WRONG_PASSWORD; 429, since a stolen session must not be able to guess the password.
 */
export type ChangeOwnPassword = (caller: Caller, body: ChangePasswordBody) => Promise<number>;

export function createChangeOwnPassword(deps: {
  readonly prisma: Prisma;
  readonly passwords: Passwords;
  readonly secrets: OneTimeSecrets;
  readonly outbox: Outbox;
  /** The limits of sign-ins: a guess here counts like a guess there. */
  readonly limits: AttemptLimits;
  readonly failures: Pick<FailedSignIns, 'record'>;
  readonly clock: Clock;
}): ChangeOwnPassword {
  const { prisma, passwords, secrets, outbox, limits, failures, clock } = deps;
  return async (caller, { currentPassword, newPassword }) => {
    const { orgId, userId, email, credentialId, client } = caller;
    await limits.begin(email, client.address, () => isKnownDevice(prisma, email, client));
    const account = await findMember(prisma, orgId, userId);
    const currentHash = account?.passwordHash ?? null;
    if (!(await passwords.verify(currentHash, currentPassword)) || currentHash === null) {
      failures.record({ email, method: 'password', client });
      throw wrongPassword();
    }
    const newHash = await passwords.hash(newPassword);
    const at = new Date(clock());
    const ended = await prisma.$transaction(async (tx) => {
      // Of two changes at the same time, the second one no longer knows the password.
      if (!(await replacePassword(tx, userId, currentHash, newHash))) throw wrongPassword();
      await secrets.revokeAll(tx, userId);
      const count = await endSessions(tx, userId, at, credentialId);
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
    await limits.succeed(email, client.address);
    return ended;
  };
}
