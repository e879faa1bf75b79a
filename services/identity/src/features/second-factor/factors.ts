import type { Prisma, Transaction } from '../../resources.js';
import { deleteRecoveryCodes, findTotp, insertRecoveryCodes } from './queries.js';
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
