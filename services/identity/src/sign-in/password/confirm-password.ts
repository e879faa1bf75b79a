import { AppError } from '@platform/service-kit';
import type { Prisma } from '../../prisma.js';
import type { AttemptLimits } from '../../base/rate-limits/attempt-limits.js';
import type { Caller } from '../../base/caller/actor.js';
import type { FailedSignIns } from '../sessions/failed-sign-ins.js';
import { isProven, type Passwords } from '../../base/passwords.js';
import { findMember } from '../../members/members/queries.js';

export const wrongPassword = (): AppError =>
  new AppError({ status: 400, code: 'WRONG_PASSWORD', message: 'The current password is wrong' });

export interface PasswordContext {
  readonly prisma: Prisma;
  readonly passwords: Passwords;
  /** The limits of sign-ins. Guesses are counted at the session: nobody without it can use them up. */
  readonly limits: AttemptLimits;
  readonly failures: Pick<FailedSignIns, 'record'>;
}

/**
 * Confirms that the person at the caller's session knows the password.
 *
 * @returns the hash of the password.
 * @throws AppError 400 WRONG_PASSWORD; 429, since a stolen session must not be able to guess the password.
 */
export async function confirmPassword(
  { prisma, passwords, limits, failures }: PasswordContext,
  caller: Caller,
  password: string,
): Promise<string> {
  const { orgId, userId, email, client, credentialId } = caller;
  const origin = { address: client.address, place: credentialId };
  await limits.begin(email, origin);
  const passwordHash = (await findMember(prisma, orgId, userId))?.passwordHash ?? null;
  const verifying = passwords.verify(passwordHash, password, isProven);
  if (!(await limits.check(email, origin, verifying)) || passwordHash === null) {
    failures.record({ email, method: 'password', client });
    throw wrongPassword();
  }
  await limits.succeed(email, origin);
  return passwordHash;
}
