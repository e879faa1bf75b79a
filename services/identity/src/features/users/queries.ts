import type { Role } from '@platform/auth';
import type { PageWindow } from '@platform/service-kit';
import { Prisma } from '../../generated/prisma/client.js';
import type { Prisma as Client, Transaction } from '../../resources.js';
import type { User } from './schemas.js';

const userFields = { id: true, orgId: true, email: true, fullName: true, role: true } as const;

export interface NewUser extends User {
  readonly role: Role;
  readonly passwordHash: string | null;
  readonly createdAt: Date;
}

/** @returns undefined when a present member has the e-mail. */
export async function insertUser(db: Client | Transaction, user: NewUser): Promise<User | undefined> {
  try {
    return await db.user.create({ data: user, select: userFields });
  } catch (error) {
    if (error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002') return undefined;
    throw error;
  }
}

/** A member who is present, of this organisation. */
export const findMember = (db: Client | Transaction, orgId: string, id: string): Promise<User | null> =>
  db.user.findFirst({ where: { id, orgId, removedAt: null }, select: userFields });

/** A present member with what a sign-in looks at; without a password they have been invited. */
export interface Account extends User {
  readonly passwordHash: string | null;
}
const accountFields = { ...userFields, passwordHash: true } as const;

export const findUserByEmail = (db: Client, email: string): Promise<Account | null> =>
  db.user.findFirst({ where: { email, removedAt: null }, select: accountFields });

/**
 * Holds off changes of the password, and the removal, until the transaction ends.
 *
 * @returns false when the member was removed or has another password by now.
 */
export async function lockUnchangedAccount(
  db: Transaction,
  id: string,
  passwordHash: string | null,
): Promise<boolean> {
  const rows = await db.$queryRaw<unknown[]>`
    select 1 from users
    where id = ${id}::uuid and removed_at is null and password_hash = ${passwordHash} for share`;
  return rows.length > 0;
}

/** @returns undefined when the member was removed. */
export async function changePassword(
  db: Transaction,
  id: string,
  passwordHash: string,
): Promise<User | undefined> {
  const where = { id, removedAt: null, passwordHash: { not: null } };
  const [user] = await db.user.updateManyAndReturn({ where, data: { passwordHash }, select: userFields });
  return user;
}

/** @returns undefined when the member was removed, or has a password. */
export async function setFirstPassword(
  db: Transaction,
  id: string,
  passwordHash: string,
  fullName: string | undefined,
): Promise<User | undefined> {
  const [user] = await db.user.updateManyAndReturn({
    where: { id, removedAt: null, passwordHash: null },
    data: { passwordHash, ...(fullName === undefined ? {} : { fullName }) },
    select: userFields,
  });
  return user;
}

export async function countMembers(db: Client, orgId: string): Promise<number> {
  const counters = await db.organisationCounters.findUnique({ where: { orgId }, select: { members: true } });
  return Number(counters?.members ?? 0);
}

/** As the administrators' list has it. */
export interface MemberRow extends Account {
  readonly undeliverableReason: string | null;
}
const memberFields = { ...accountFields, undeliverableReason: true } as const;

/** Newest first; the page is found in the index alone. */
export async function findMembers(db: Client, orgId: string, window: PageWindow): Promise<MemberRow[]> {
  const page = await db.user.findMany({
    where: { orgId, removedAt: null },
    orderBy: { id: window.isFromEnd ? 'asc' : 'desc' },
    skip: window.offset,
    take: window.count,
    select: { id: true },
  });
  return db.user.findMany({
    where: { orgId, id: { in: page.map(({ id }) => id) } },
    orderBy: { id: 'desc' },
    select: memberFields,
  });
}

/**
 * Makes changes of an organisation's administrators wait for one another, so that the last one
 * can't be removed twice at once. Doesn't hold up inserts that refer to the organisation.
 */
export const lockOrganisation = (db: Transaction, orgId: string): Promise<unknown> =>
  db.$queryRaw`select id::text from organisations where id = ${orgId}::uuid for no key update`;

export const hasOtherAdmin = async (db: Transaction, orgId: string, userId: string): Promise<boolean> =>
  (await db.user.findFirst({
    where: { orgId, role: 'admin', removedAt: null, id: { not: userId } },
    select: { id: true },
  })) !== null;

export const updateUser = (
  db: Transaction,
  id: string,
  change: { readonly fullName?: string; readonly role?: Role },
): Promise<User> => db.user.update({ where: { id }, data: change, select: userFields });

/** The row stays; with it what the tokens' list tells of their owner. */
export const markRemoved = (db: Transaction, id: string, at: Date): Promise<unknown> =>
  db.user.update({ where: { id }, data: { removedAt: at }, select: { id: true } });
