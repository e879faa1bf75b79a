import type { Prisma, Transaction } from '../../resources.js';

/*
 * A session is confirmed when its member has just signed in at the organisation's provider again. That takes the place of
 * the password once, within ten minutes, and allows dangerous acts as the password does (AUTH-41).
 */

const LIFETIME_MS = 10 * 60_000;

interface OwnSession {
  readonly orgId: string;
  readonly userId: string;
  /** The id of the session. */
  readonly credentialId: string;
}

const toOpen = ({ orgId, userId, credentialId: id }: OwnSession, at: Date) => ({
  id,
  orgId,
  userId,
  endedAt: null,
  expiresAt: { gt: at },
});

/** @returns false when the session has ended. */
export const confirmSession = async (db: Transaction, session: OwnSession, at: Date): Promise<boolean> =>
  (
    await db.session.updateMany({
      where: toOpen(session, at),
      data: { confirmedAt: at, authenticatedAt: at },
    })
  ).count > 0;

export const isSessionConfirmed = async (
  db: Prisma | Transaction,
  session: OwnSession,
  at: Date,
): Promise<boolean> => {
  const confirmedAt = { gt: new Date(at.getTime() - LIFETIME_MS) };
  const where = { ...toOpen(session, at), confirmedAt };
  return (await db.session.findFirst({ where, select: { id: true } })) !== null;
};

/** Uses the confirmation up. */
export const clearConfirmation = (db: Transaction, { credentialId: id }: OwnSession): Promise<unknown> =>
  db.session.updateMany({ where: { id }, data: { confirmedAt: null } });
