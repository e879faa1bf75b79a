import { DAY_MS, type SecretBox } from '@platform/service-kit';
import { toDigest } from '@platform/auth';
import type { Transaction } from '../../prisma.js';
import { findTotp, setWrongCodes, type StoredTotp, useRecoveryCode, useStep } from './queries.js';
import { toRecoveryDigest } from './recovery-codes.js';
import { findStep, isTotpCode } from './totp.js';

/** The limit of wrong codes at one account in a day, from all networks together: the same as for mailed codes. */
const WRONG_CODES_PER_DAY = 30;

/** The context that binds a sealed secret to its account. */
export const totpContext = (userId: string): string => `totp:${userId}`;

/** `lastWrong` is the wrong code that uses the day's limit up. */
export type CheckResult =
  | { readonly factor: 'totp' | 'recovery_code' }
  | { readonly fault: 'wrong' | 'lastWrong' }
  | { readonly fault: 'exhausted'; readonly retryAfterMs: number };

/** Returns how many wrong codes count today. */
function countWrong({ wrongCodes, wrongSince }: StoredTotp, at: Date): number {
  return wrongSince !== null && wrongSince.getTime() > at.getTime() - DAY_MS ? wrongCodes : 0;
}

/**
 * Checks a code of an authenticator app or a recovery code, and uses it up. The caller holds the lock of
 * {@link lockFactors} and commits the transaction in any case, so that wrong codes are counted.
 */
export async function checkCode(
  tx: Transaction,
  box: SecretBox,
  member: { readonly orgId: string; readonly userId: string },
  { code, at }: { readonly code: string; readonly at: Date },
): Promise<CheckResult> {
  const { userId } = member;
  const typed = code.replaceAll(/\s/g, '');
  if (!isTotpCode(typed)) {
    const digest = toRecoveryDigest(code);
    const isRight = digest !== undefined && (await useRecoveryCode(tx, userId, digest));
    return isRight ? { factor: 'recovery_code' } : { fault: 'wrong' };
  }
  const totp = await findTotp(tx, member);
  if (!totp) return { fault: 'wrong' };
  const wrong = countWrong(totp, at);
  const since = wrong === 0 || totp.wrongSince === null ? at : totp.wrongSince;
  if (wrong >= WRONG_CODES_PER_DAY)
    return { fault: 'exhausted', retryAfterMs: since.getTime() + DAY_MS - at.getTime() };
  const step = findStep(box.open(totp.secretSealed, totpContext(userId)), typed, at.getTime());
  if (step !== undefined && (await useStep(tx, userId, step))) return { factor: 'totp' };
  await setWrongCodes(tx, userId, { wrongCodes: wrong + 1, wrongSince: since });
  return { fault: wrong + 1 === WRONG_CODES_PER_DAY ? 'lastWrong' : 'wrong' };
}

/** A pending sign-in belongs to the password as it was. An account whose password changes has to begin again. */
export const toPasswordDigest = (passwordHash: string | null): string => toDigest(passwordHash ?? '');
