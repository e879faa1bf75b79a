import { toDigest } from '@platform/auth';
import type { Transaction, Prisma } from '../../resources.js';
import type { FirstFactor } from './sign-in-outcome.js';

export interface NewSession {
  readonly id: string;
  readonly orgId: string;
  readonly userId: string;
  readonly tokenHash: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly address: string;
  readonly userAgent: string | null;
  readonly firstFactor: FirstFactor;
}

const originFields = { id: true, createdAt: true, expiresAt: true, address: true, userAgent: true } as const;

/** Finds the newest open sessions of the member, newest first. */
export const findOpenSessions = (
  db: Prisma | Transaction,
  { orgId, userId }: { readonly orgId: string; readonly userId: string },
  now: Date,
  limit: number,
) =>
  db.session.findMany({
    where: { orgId, userId, endedAt: null, expiresAt: { gt: now } },
    orderBy: { id: 'desc' },
    take: limit,
    select: originFields,
  });

/** Ends an open session of the member. @returns false when the member has no such session. */
export async function endOwnSession(
  db: Transaction,
  { orgId, userId }: { readonly orgId: string; readonly userId: string },
  id: string,
  at: Date,
): Promise<boolean> {
  const where = { id, orgId, userId, endedAt: null, expiresAt: { gt: at } };
  return (await db.session.updateMany({ where, data: { endedAt: at } })).count > 0;
}

export const insertSession = (db: Transaction, session: NewSession): Promise<unknown> =>
  db.session.create({ data: session, select: { id: true } });

/**
 * Ends the oldest open sessions of the member, beyond the number to keep.
 *
 * @returns how many were ended.
 */
export const endOldestSessions = (
  db: Transaction,
  userId: string,
  at: Date,
  keep: number,
): Promise<number> => db.$executeRaw`
  update sessions set ended_at = ${at.toISOString()}::timestamptz
  where ended_at is null and id in (
    select id from sessions
    where user_id = ${userId}::uuid and ended_at is null and expires_at > ${at.toISOString()}::timestamptz
    order by id desc offset ${keep}
  )`;

/** Notes that a browser was given the session. */
export const markBrowserSession = (
  db: Prisma,
  { orgId, userId }: Pick<NewSession, 'orgId' | 'userId'>,
  token: string,
): Promise<unknown> =>
  db.session.updateMany({
    where: { orgId, userId, tokenHash: toDigest(token), endedAt: null },
    data: { isBrowser: true },
  });

/** Notes that the member of a session that has just been opened authenticated before that. */
export const backdateAuthentication = (
  db: Transaction,
  { orgId, id: userId }: { readonly orgId: string; readonly id: string },
  token: string,
  at: Date,
): Promise<unknown> =>
  db.session.updateMany({
    where: { orgId, userId, tokenHash: toDigest(token), createdAt: { gt: at } },
    data: { authenticatedAt: at },
  });

/** @returns 1, or 0 when the session had ended already. */
export async function endSession(
  db: Prisma | Transaction,
  orgId: string,
  id: string,
  at: Date,
): Promise<number> {
  const { count } = await db.session.updateMany({
    where: { id, orgId, endedAt: null },
    data: { endedAt: at },
  });
  return count;
}

/** Ends all open sessions of the user, but for the one to keep. @returns how many were ended. */
export async function endSessions(
  db: Transaction,
  userId: string,
  at: Date,
  keptId?: string,
): Promise<number> {
  const { count } = await db.session.updateMany({
    where: {
      userId,
      endedAt: null,
      expiresAt: { gt: at },
      ...(keptId !== undefined && { id: { not: keptId } }),
    },
    data: { endedAt: at },
  });
  return count;
}
