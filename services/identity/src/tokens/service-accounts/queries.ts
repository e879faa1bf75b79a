import type { Role } from '@platform/auth';
import type { ListWindow } from '@platform/service-kit';
import type { Prisma as PrismaTypes } from '../../generated/prisma/client.js';
import { escapeLike } from '../../base/escape-like.js';
import type { Prisma, Transaction } from '../../prisma.js';

const fields = {
  id: true,
  name: true,
  role: true,
  createdAt: true,
  lastUsedAt: true,
  clients: { where: { removedAt: null }, select: { id: true }, take: 1 },
} as const satisfies PrismaTypes.ServiceAccountSelect;

export type AccountRow = PrismaTypes.ServiceAccountGetPayload<{ select: typeof fields }>;

const own = (orgId: string) => ({ orgId, removedAt: null }) as const;

/**
 * Matches the accounts with a part of their name, or of the client id of the application that they belong to. An
 * organisation has few of them, and all are read to count them.
 */
function matching(orgId: string, q: string | undefined): PrismaTypes.ServiceAccountWhereInput {
  if (q === undefined) return own(orgId);
  const found = { contains: escapeLike(q), mode: 'insensitive' } as const;
  return { ...own(orgId), OR: [{ name: found }, { clients: { some: { id: found, removedAt: null } } }] };
}

/** Returns the rows newest first. */
export async function findAccounts(
  db: Prisma,
  orgId: string,
  { isFromEnd, offset, count, beforeId }: ListWindow,
  q?: string,
): Promise<AccountRow[]> {
  const rows = await db.serviceAccount.findMany({
    where: { ...matching(orgId, q), ...(beforeId !== undefined && { id: { lt: beforeId } }) },
    orderBy: { id: isFromEnd ? 'asc' : 'desc' },
    skip: offset,
    take: count,
    select: fields,
  });
  return isFromEnd ? rows.toReversed() : rows;
}

export const countAccounts = (db: Prisma, orgId: string, q: string | undefined): Promise<number> =>
  db.serviceAccount.count({ where: matching(orgId, q) });

export const findAccount = (
  db: Prisma | Transaction,
  orgId: string,
  id: string,
): Promise<AccountRow | null> =>
  db.serviceAccount.findFirst({ where: { ...own(orgId), id }, select: fields });

export interface NewAccount {
  readonly id: string;
  readonly orgId: string;
  readonly name: string;
  readonly role: Role;
  readonly createdAt: Date;
  /** The administrator who sets it up. */
  readonly createdBy: string;
}

export const insertAccount = (db: Transaction, account: NewAccount): Promise<AccountRow> =>
  db.serviceAccount.create({ data: account, select: fields });

export const updateAccount = (
  db: Transaction,
  id: string,
  change: { readonly name?: string; readonly role?: Role; readonly removedAt?: Date },
): Promise<AccountRow> => db.serviceAccount.update({ where: { id }, data: change, select: fields });
