import type { Transaction, Prisma } from '../../resources.js';

export interface NewSession {
  readonly id: string;
  readonly orgId: string;
  readonly userId: string;
  readonly tokenHash: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export const insertSession = (db: Transaction, session: NewSession): Promise<unknown> =>
  db.session.create({ data: session, select: { id: true } });

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

/** Ends all open sessions of the user. @returns how many were ended. */
export async function endSessions(db: Transaction, userId: string, at: Date): Promise<number> {
  const { count } = await db.session.updateMany({
    where: { userId, endedAt: null, expiresAt: { gt: at } },
    data: { endedAt: at },
  });
  return count;
}
