import type { Prisma, Transaction } from '../../prisma.js';

/** Locks the table, so that replicas that start together create the first organisation only once. */
export const lockOrganisations = (db: Transaction): Promise<unknown> =>
  db.$executeRaw`lock table organisations in share row exclusive mode`;

export const hasOrganisation = async (db: Prisma | Transaction): Promise<boolean> =>
  (await db.organisation.findFirst({ select: { id: true } })) !== null;

/** @param id - undefined finds any organisations, at most `limit`. */
export const findOrganisations = (
  db: Transaction,
  id: string | undefined,
  limit: number,
): Promise<{ readonly id: string; readonly name: string }[]> =>
  db.organisation.findMany({
    where: id === undefined ? {} : { id },
    select: { id: true, name: true },
    orderBy: { id: 'asc' },
    take: limit,
  });

export const insertOrganisation = (
  db: Transaction,
  organisation: { readonly id: string; readonly name: string; readonly createdAt: Date },
): Promise<unknown> => db.organisation.create({ data: organisation, select: { id: true } });

/** Returns whether members of the organisation can sign in with mailed codes. */
export const areCodesEnabled = async (db: Prisma | Transaction, id: string): Promise<boolean> =>
  (await getSignInSettings(db, id)).codesEnabled;

/** The ways in which members of the organisation can sign in. */
interface SignInSettings {
  readonly codesEnabled: boolean;
  readonly secondFactorRequired: boolean;
}

const signInFields = { codesEnabled: true, secondFactorRequired: true } as const;

export const getSignInSettings = (db: Prisma | Transaction, id: string): Promise<SignInSettings> =>
  db.organisation.findUniqueOrThrow({ where: { id }, select: signInFields });

const toSignInLock = (orgId: string): string => `sign-in-settings:${orgId}`;

/**
 * Keeps the sign-in settings as they are until the transaction ends. An advisory lock, since a sign-in has locked its
 * account by then, and changes of accounts lock the organisation first: a lock of that row would deadlock with them.
 */
export const holdSignInSettings = (db: Transaction, id: string): Promise<unknown> =>
  db.$executeRaw`select pg_advisory_xact_lock_shared(hashtextextended(${toSignInLock(id)}, 0))`;

/** Waits for the sign-ins that read the settings as they were, and lets later ones wait for the change. */
export const lockSignInSettings = (db: Transaction, id: string): Promise<unknown> =>
  db.$executeRaw`select pg_advisory_xact_lock(hashtextextended(${toSignInLock(id)}, 0))`;

export const setSignInSettings = (db: Transaction, id: string, settings: SignInSettings): Promise<unknown> =>
  db.organisation.update({ where: { id }, data: settings, select: { id: true } });

/** The generations in which sessions are opened now: see `isSessionOpen`. */
export const getSessionGenerations = (db: Transaction, id: string) =>
  db.organisation.findUniqueOrThrow({
    where: { id },
    select: { providerGeneration: true, singleFactorGeneration: true },
  });

/** Ends all sessions of the kind, as of the commit. @returns the new generation. */
export async function advanceSessionGeneration(
  db: Transaction,
  id: string,
  kind: 'providerGeneration' | 'singleFactorGeneration',
): Promise<number> {
  const updated = await db.organisation.update({
    where: { id },
    data: { [kind]: { increment: 1 } },
    select: { providerGeneration: true, singleFactorGeneration: true },
  });
  return updated[kind];
}
