import type { UserPrincipal } from '@platform/auth';
import type { Prisma, Transaction } from '../../resources.js';
import { CONFIRMED_FOR_MS } from './recent.js';

/*
 * Members confirm a session at the organisation's provider by signing in there again. That takes the place of the password
 * once, within ten minutes, and allows dangerous acts as the password does (AUTH-41).
 */

type OwnSession = Pick<UserPrincipal, 'credentialId' | 'orgId' | 'userId'>;

const toOpen = ({ orgId, userId, credentialId: id }: OwnSession, at: Date) => ({
  id,
  orgId,
  userId,
  endedAt: null,
  expiresAt: { gt: at },
});

/**
 * @param authenticatedAt - when the member authenticated at the provider, whose page may have been left open since.
 * @returns false when the session has ended.
 */
export const saveProviderConfirmation = async (
  db: Transaction,
  session: OwnSession,
  at: Date,
  authenticatedAt: Date,
): Promise<boolean> =>
  (
    await db.session.updateMany({
      where: toOpen(session, at),
      data: { confirmedAt: at, authenticatedAt },
    })
  ).count > 0;

/** Returns whether the session has a confirmation that was not used up. */
export const hasProviderConfirmation = async (
  db: Prisma | Transaction,
  session: OwnSession,
  at: Date,
): Promise<boolean> => {
  const confirmedAt = { gt: new Date(at.getTime() - CONFIRMED_FOR_MS) };
  const where = { ...toOpen(session, at), confirmedAt };
  return (await db.session.findFirst({ where, select: { id: true } })) !== null;
};

export const useUpProviderConfirmation = (
  db: Transaction,
  { credentialId: id }: OwnSession,
): Promise<unknown> => db.session.updateMany({ where: { id }, data: { confirmedAt: null } });
