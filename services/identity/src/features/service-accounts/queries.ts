import type { Role } from '@platform/auth';
import type { Prisma as PrismaTypes } from '../../generated/prisma/client.js';
import type { Prisma, Transaction } from '../../resources.js';

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

export const findAccounts = (
  db: Prisma,
  orgId: string,
  page: { readonly skip: number; readonly take: number },
): Promise<AccountRow[]> =>
  db.serviceAccount.findMany({ where: own(orgId), orderBy: { id: 'desc' }, ...page, select: fields });

export const countAccounts = (db: Prisma, orgId: string): Promise<number> =>
  db.serviceAccount.count({ where: own(orgId) });

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
}

export const insertAccount = (db: Transaction, account: NewAccount): Promise<AccountRow> =>
  db.serviceAccount.create({ data: account, select: fields });

export const updateAccount = (
  db: Transaction,
  id: string,
  change: { readonly name?: string; readonly role?: Role; readonly removedAt?: Date },
): Promise<AccountRow> => db.serviceAccount.update({ where: { id }, data: change, select: fields });
