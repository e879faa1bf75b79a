import type { Prisma, Transaction } from '../../prisma.js';
import { getSignInSettings, holdSignInSettings } from '../../members/organisation/queries.js';
import type { FirstFactor } from '../sessions/sign-in-outcome.js';

export interface Member {
  readonly orgId: string;
  readonly userId: string;
}

/**
 * Serialises the changes of an account's second factor, and the sign-ins with it: a factor cannot appear or disappear
 * between a check and what relies on it.
 *
 * @returns false when the member was removed.
 */
export async function lockFactors(db: Transaction, { orgId, userId }: Member): Promise<boolean> {
  const rows = await db.$queryRaw<unknown[]>`
    select 1 from users where id = ${userId}::uuid and org_id = ${orgId}::uuid and removed_at is null
    for no key update`;
  return rows.length > 0;
}

export interface StoredTotp {
  readonly secretSealed: string;
  readonly lastStep: bigint;
  readonly wrongCodes: number;
  readonly wrongSince: Date | null;
  readonly createdAt: Date;
}

export const findTotp = (db: Prisma | Transaction, { orgId, userId }: Member): Promise<StoredTotp | null> =>
  db.totpFactor.findFirst({ where: { userId, orgId }, omit: { userId: true, orgId: true } });

/** Stores the secret of an authenticator app, in place of an earlier one. */
export const saveTotp = (
  db: Transaction,
  { orgId, userId }: Member,
  totp: { readonly secretSealed: string; readonly lastStep: number; readonly createdAt: Date },
): Promise<unknown> => {
  const data = { ...totp, lastStep: BigInt(totp.lastStep), wrongCodes: 0, wrongSince: null };
  return db.totpFactor.upsert({ where: { userId }, create: { userId, orgId, ...data }, update: data });
};

/** Records a code that was accepted. @returns false when a code of this time step or a later one was accepted before. */
export async function useStep(db: Transaction, userId: string, step: number): Promise<boolean> {
  const where = { userId, lastStep: { lt: BigInt(step) } };
  const data = { lastStep: BigInt(step), wrongCodes: 0, wrongSince: null };
  return (await db.totpFactor.updateMany({ where, data })).count > 0;
}

export const setWrongCodes = (
  db: Transaction,
  userId: string,
  wrong: { readonly wrongCodes: number; readonly wrongSince: Date },
): Promise<unknown> => db.totpFactor.updateMany({ where: { userId }, data: wrong });

export const deleteTotp = async (db: Transaction, { orgId, userId }: Member): Promise<boolean> =>
  (await db.totpFactor.deleteMany({ where: { userId, orgId } })).count > 0;

export const countRecoveryCodes = (db: Prisma | Transaction, userId: string): Promise<number> =>
  db.recoveryCode.count({ where: { userId } });

export const insertRecoveryCodes = (
  db: Transaction,
  userId: string,
  digests: readonly string[],
  createdAt: Date,
): Promise<unknown> =>
  db.recoveryCode.createMany({ data: digests.map((codeHash) => ({ userId, codeHash, createdAt })) });

export const deleteRecoveryCodes = (db: Transaction, userId: string): Promise<unknown> =>
  db.recoveryCode.deleteMany({ where: { userId } });

/** Uses a recovery code up; of concurrent calls exactly one succeeds. */
export const useRecoveryCode = async (db: Transaction, userId: string, codeHash: string): Promise<boolean> =>
  (await db.recoveryCode.deleteMany({ where: { userId, codeHash } })).count > 0;

export interface NewPendingSignIn extends Member {
  readonly tokenHash: string;
  readonly method: FirstFactor;
  readonly passwordDigest: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export const insertPendingSignIn = (db: Transaction, pending: NewPendingSignIn): Promise<unknown> =>
  db.pendingSignIn.create({ data: pending, select: { tokenHash: true } });

const pendingFields = { orgId: true, userId: true, method: true, passwordDigest: true } as const;
export interface StoredPendingSignIn extends Member {
  readonly method: string;
  readonly passwordDigest: string;
}

export const findPendingSignIn = (
  db: Prisma | Transaction,
  tokenHash: string,
  now: Date,
): Promise<StoredPendingSignIn | null> =>
  db.pendingSignIn.findFirst({ where: { tokenHash, expiresAt: { gt: now } }, select: pendingFields });

/** Uses a pending sign-in up; of concurrent calls exactly one succeeds. */
export const consumePendingSignIn = async (db: Transaction, tokenHash: string, now: Date): Promise<boolean> =>
  (await db.pendingSignIn.deleteMany({ where: { tokenHash, expiresAt: { gt: now } } })).count > 0;

export const isSecondFactorRequired = async (db: Prisma | Transaction, orgId: string): Promise<boolean> =>
  (await getSignInSettings(db, orgId)).secondFactorRequired;

/** Returns whether the organisation requires a second factor, which stays so until the transaction ends. */
export async function holdSecondFactorRequired(db: Transaction, orgId: string): Promise<boolean> {
  await holdSignInSettings(db, orgId);
  return isSecondFactorRequired(db, orgId);
}
