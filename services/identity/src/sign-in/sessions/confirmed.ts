import type { UserPrincipal } from '@platform/auth';
import { AppError } from '@platform/service-kit';
import type { Prisma, Transaction } from '../../prisma.js';

/** The time for which a sign-in or a confirmation allows dangerous acts. */
export const CONFIRMED_FOR_MS = 10 * 60_000;

/** A dangerous act whose member has not just authenticated (AUTH-41). */
export class ConfirmationRequired extends AppError {
  constructor() {
    super({
      status: 403,
      code: 'CONFIRMATION_REQUIRED',
      message: 'Confirm that it is you: enter your password again, or sign in again',
    });
  }
}

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

/** Returns whether the member of a session has authenticated recently: when it was opened, or since. */
export function isRecent(
  session: { readonly createdAt: Date; readonly authenticatedAt: Date | null } | null,
  now: number,
): boolean {
  if (session === null) return false;
  const { createdAt, authenticatedAt } = session;
  return now - (authenticatedAt ?? createdAt).getTime() < CONFIRMED_FOR_MS;
}

/** Returns whether the session allows dangerous acts at this time. */
export const isSessionConfirmed = async (
  prisma: Prisma,
  session: OwnSession,
  now: number,
): Promise<boolean> => isRecent(await findAuthentication(prisma, session), now);
