import type { UserPrincipal } from '@platform/auth';
import type { Prisma, Transaction } from '../../resources.js';

type OwnSession = Pick<UserPrincipal, 'credentialId' | 'orgId' | 'userId'>;

const toOwn = ({ credentialId: id, orgId, userId }: OwnSession) => ({ id, orgId, userId, endedAt: null });

/** Finds when the session was opened and when its member last authenticated; null when it has ended. */
export const findAuthentication = (db: Prisma, session: OwnSession) =>
  db.session.findFirst({
    where: toOwn(session),
    select: { createdAt: true, authenticatedAt: true, isBrowser: true },
  });

/** @returns false when the session has ended. */
export const setAuthenticated = async (db: Transaction, session: OwnSession, at: Date): Promise<boolean> =>
  (await db.session.updateMany({ where: toOwn(session), data: { authenticatedAt: at } })).count > 0;
