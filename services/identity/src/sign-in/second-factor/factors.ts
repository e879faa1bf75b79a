import type { Prisma, Transaction } from '../../prisma.js';
import { findPasskeys, type StoredPasskey } from '../passkeys/queries.js';
import {
  deleteRecoveryCodes,
  findTotp,
  insertRecoveryCodes,
  type Member,
  type StoredTotp,
} from './queries.js';
import { generateRecoveryCodes, toRecoveryDigest } from './recovery-codes.js';

/** The second factors of a member, apart from recovery codes. */
export interface Factors {
  readonly totp: StoredTotp | null;
  readonly passkeys: readonly StoredPasskey[];
}

export async function findFactors(db: Prisma | Transaction, member: Member): Promise<Factors> {
  const totp = await findTotp(db, member);
  return { totp, passkeys: await findPasskeys(db, member) };
}

export const isEmpty = ({ totp, passkeys }: Factors): boolean => totp === null && passkeys.length === 0;

export const hasSecondFactor = async (db: Prisma | Transaction, member: Member): Promise<boolean> =>
  !isEmpty(await findFactors(db, member));

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
