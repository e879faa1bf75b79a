import { v7 as uuidv7 } from 'uuid';
import { Prisma } from '../../generated/prisma/client.js';
import type { Prisma as Client, Transaction } from '../../prisma.js';

interface Member {
  readonly orgId: string;
  readonly userId: string;
}

/** The data with which a passkey is verified. */
export interface Credential {
  /** In base64url. */
  readonly credentialId: string;
  /** A COSE key. */
  readonly publicKey: Uint8Array<ArrayBuffer>;
  readonly counter: bigint;
  /** The transports by which browsers reach the authenticator: `internal`, `usb`, … */
  readonly transports: string[];
}

export interface StoredPasskey extends Credential {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** Finds the passkeys of a member, oldest first: {@link MAX_PASSKEYS} at most. */
export const findPasskeys = (db: Client | Transaction, { orgId, userId }: Member): Promise<StoredPasskey[]> =>
  db.passkey.findMany({
    where: { orgId, userId },
    orderBy: { id: 'asc' },
    omit: { orgId: true, userId: true },
  });

/** As many as a person has devices, and few enough to be sent to a browser with every sign-in. */
export const MAX_PASSKEYS = 10;

/** @returns undefined when an account has the credential already. */
export async function insertPasskey(
  db: Transaction,
  { orgId, userId }: Member,
  passkey: Credential & { readonly name: string; readonly createdAt: Date },
): Promise<StoredPasskey | undefined> {
  // A violated constraint would end the transaction.
  const { credentialId } = passkey;
  if (await db.passkey.findUnique({ where: { credentialId }, select: { id: true } })) return undefined;
  return db.passkey.create({
    data: { id: uuidv7(), orgId, userId, ...passkey },
    omit: { orgId: true, userId: true },
  });
}

/** Finds whose passkey it is, of any organisation: a credential id is random, and belongs to one account. */
export const findPasskeyOwner = (db: Client, credentialId: string): Promise<Member | null> =>
  db.passkey.findUnique({ where: { credentialId }, select: { orgId: true, userId: true } });

export const recordUse = (
  db: Transaction,
  { orgId, userId }: Member,
  id: string,
  use: { readonly counter: bigint; readonly lastUsedAt: Date },
): Promise<unknown> => db.passkey.updateMany({ where: { id, orgId, userId }, data: use });

/** @returns the earlier name; undefined when the member has no such passkey. */
export async function renamePasskey(
  db: Transaction,
  { orgId, userId }: Member,
  id: string,
  name: string,
): Promise<string | undefined> {
  const [row] = await db.$queryRaw<{ name: string }[]>(Prisma.sql`
    update passkeys set name = ${name}
    from (select id, name from passkeys
          where id = ${id}::uuid and org_id = ${orgId}::uuid and user_id = ${userId}::uuid for update) as before
    where passkeys.id = before.id
    returning before.name`);
  return row?.name;
}

/** @returns the name of the deleted passkey; undefined when the member has no such one. */
export async function deletePasskey(
  db: Transaction,
  { orgId, userId }: Member,
  id: string,
): Promise<string | undefined> {
  const [row] = await db.$queryRaw<{ name: string }[]>(Prisma.sql`
    delete from passkeys where id = ${id}::uuid and org_id = ${orgId}::uuid and user_id = ${userId}::uuid
    returning name`);
  return row?.name;
}

/** @returns how many were deleted. */
export const deletePasskeys = async (db: Transaction, { orgId, userId }: Member): Promise<number> =>
  (await db.passkey.deleteMany({ where: { orgId, userId } })).count;
