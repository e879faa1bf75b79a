import { Prisma as PrismaNamespace } from '../../generated/prisma/client.js';
import type { Prisma, Transaction } from '../../prisma.js';

/** Returns whether the error says that there is such a row already. */
export const isUniqueViolation = (error: unknown): boolean =>
  error instanceof PrismaNamespace.PrismaClientKnownRequestError && error.code === 'P2002';

export interface NewProviderSignIn {
  readonly stateHash: string;
  readonly orgId: string;
  readonly revision: string;
  readonly browserHash: string;
  readonly returnTo: string;
  /** The session to confirm; null for a sign-in that opens one. */
  readonly sessionId: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export const insertSignIn = (db: Prisma, signIn: NewProviderSignIn): Promise<unknown> =>
  db.providerSignIn.create({ data: signIn, select: { stateHash: true } });

export interface StoredSignIn {
  readonly orgId: string;
  readonly revision: string;
  readonly returnTo: string;
  readonly sessionId: string | null;
  readonly createdAt: Date;
  readonly hasExpired: boolean;
}

/** Uses a sign-in up that this browser began with the organisation's provider; of concurrent calls exactly one succeeds. */
export async function consumeSignIn(
  db: Prisma,
  {
    orgId,
    stateHash,
    browserHash,
  }: { readonly orgId: string; readonly stateHash: string; readonly browserHash: string },
  now: Date,
): Promise<StoredSignIn | undefined> {
  const [found] = await db.$queryRaw<StoredSignIn[]>`
    delete from provider_sign_ins
    where state_hash = ${stateHash} and browser_hash = ${browserHash} and org_id = ${orgId}::uuid
    returning org_id::text as "orgId", revision::text as revision, return_to as "returnTo",
      session_id::text as "sessionId", created_at as "createdAt",
      expires_at <= ${now.toISOString()}::timestamptz as "hasExpired"`;
  return found;
}

interface Subject {
  readonly orgId: string;
  readonly issuer: string;
  readonly subject: string;
}

/** Finds the account that a subject belongs to, also when its member was removed. */
export async function findLinkedUser(
  db: Transaction,
  { orgId, issuer, subject }: Subject,
): Promise<{ readonly id: string; readonly isRemoved: boolean } | undefined> {
  const link = await db.providerLink.findUnique({
    where: { orgId_issuer_subject: { orgId, issuer, subject } },
    select: { user: { select: { id: true, removedAt: true } } },
  });
  return link ? { id: link.user.id, isRemoved: link.user.removedAt !== null } : undefined;
}

/** Links the subject with the account; from a removed member's account it is taken away. */
export async function insertLink(
  db: Transaction,
  { orgId, issuer, subject }: Subject,
  userId: string,
  createdAt: Date,
): Promise<void> {
  await db.providerLink.deleteMany({ where: { orgId, issuer, subject, user: { removedAt: { not: null } } } });
  await db.providerLink.create({
    data: { userId, orgId, issuer, subject, createdAt },
    select: { userId: true },
  });
}

/** Returns whether somebody with the address was a member once. An invitation that lapsed made nobody a member. */
export const wasMember = async (db: Transaction, orgId: string, email: string): Promise<boolean> =>
  (await db.user.findFirst({
    where: { orgId, email, removedAt: { not: null }, passwordHash: { not: null } },
    select: { id: true },
  })) !== null;
