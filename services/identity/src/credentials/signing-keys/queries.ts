import type { Prisma, Transaction } from '../../prisma.js';

export interface SigningKeyRow {
  readonly id: string;
  readonly publicKey: string;
  readonly privateSealed: string;
  readonly createdAt: Date;
  readonly activeFrom: Date;
}

/** Finds the keys that haven't been removed, newest first. */
export const findKeys = (db: Prisma | Transaction): Promise<SigningKeyRow[]> =>
  db.signingKey.findMany({
    where: { removedAt: null },
    orderBy: [{ activeFrom: 'desc' }, { id: 'desc' }],
    omit: { removedAt: true },
  });

/** Finds all keys, removed ones included. */
export const findAllKeys = (db: Prisma | Transaction): Promise<SigningKeyRow[]> =>
  db.signingKey.findMany({ omit: { removedAt: true } });

export const replacePrivateKey = (tx: Transaction, id: string, privateSealed: string): Promise<unknown> =>
  tx.signingKey.update({ where: { id }, data: { privateSealed } });

export const insertKey = (tx: Transaction, key: SigningKeyRow): Promise<unknown> =>
  tx.signingKey.create({ data: key });

/** Inserts the first key, unless another replica has done so. */
export async function insertFirstKey(db: Prisma, key: SigningKeyRow): Promise<void> {
  await db.$transaction(async (tx) => {
    await tx.$executeRaw`lock table signing_keys in share row exclusive mode`;
    if ((await tx.signingKey.count()) === 0) await tx.signingKey.create({ data: key });
  });
}

export const countActiveTokens = (db: Prisma | Transaction, keyId: string): Promise<number> =>
  db.personalAccessToken.count({ where: { signingKeyId: keyId, status: 'active' } });

export const removeKey = (db: Prisma | Transaction, keyId: string, at: Date): Promise<unknown> =>
  db.signingKey.update({ where: { id: keyId }, data: { removedAt: at } });
