import type { Prisma, Transaction } from '../../resources.js';
import type { SecretBox } from '../../secret-box.js';
import { totpContext } from './check.js';
import {
  countRecoveryCodes,
  deleteRecoveryCodes,
  findTotp,
  insertRecoveryCodes,
  saveTotp,
} from './queries.js';
import { generateRecoveryCodes, toRecoveryDigest } from './recovery-codes.js';

interface Member {
  readonly orgId: string;
  readonly userId: string;
}

export const hasSecondFactor = async (db: Prisma | Transaction, member: Member): Promise<boolean> =>
  (await findTotp(db, member)) !== null;

/** Replaces the recovery codes. @returns the new ones, which are stored as digests only. */
export async function renewRecoveryCodes(tx: Transaction, userId: string, at: Date): Promise<string[]> {
  const codes = generateRecoveryCodes();
  await deleteRecoveryCodes(tx, userId);
  await insertRecoveryCodes(
    tx,
    userId,
    codes.map((code) => toRecoveryDigest(code) ?? ''),
    at,
  );
  return codes;
}

/**
 * Stores an authenticator app that was confirmed, in place of an earlier one.
 *
 * @returns recovery codes when the account has none; null when it keeps those that it has.
 */
export async function addTotp(
  tx: Transaction,
  box: SecretBox,
  member: Member,
  { secret, step, at }: { readonly secret: string; readonly step: number; readonly at: Date },
): Promise<string[] | null> {
  const secretSealed = box.seal(secret, totpContext(member.userId));
  await saveTotp(tx, member, { secretSealed, lastStep: step, createdAt: at });
  return (await countRecoveryCodes(tx, member.userId)) > 0 ? null : renewRecoveryCodes(tx, member.userId, at);
}
