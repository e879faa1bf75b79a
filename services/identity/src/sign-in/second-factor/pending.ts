import { toDigest } from '@platform/auth';
import type { Transaction } from '../../prisma.js';
import { generateToken } from '../../mails/one-time-secrets/secret.js';
import type { FirstFactor, PendingSignIn } from '../sessions/sign-in-outcome.js';
import { type Account, findMember } from '../../members/members/queries.js';
import type { User } from '../../members/members/schemas.js';
import { toPasswordDigest } from './check.js';
import type { SecondFactorContext } from './context.js';
import { signInExpired } from './errors.js';
import { hasSecondFactor } from './factors.js';
import { findPendingSignIn, insertPendingSignIn, lockFactors } from './queries.js';

/*
 * A pending sign-in lasts ten minutes and ends with the password that it began with. Whether it asks for a factor or for
 * the set-up of one is decided again at each step: an account that has a factor never gets another one this way.
 */

const LIFETIME_MS = 10 * 60_000;

export interface Pending {
  readonly account: Account;
  readonly method: FirstFactor;
  readonly tokenHash: string;
  readonly step: PendingSignIn['step'];
}

type PendingContext = Pick<SecondFactorContext, 'prisma' | 'clock'>;

export async function beginPendingSignIn(
  { clock }: PendingContext,
  tx: Transaction,
  { id: userId, orgId, passwordHash }: Account,
  method: FirstFactor,
): Promise<Omit<PendingSignIn, 'step'>> {
  const challenge = generateToken();
  const createdAt = new Date(clock());
  const expiresAt = new Date(createdAt.getTime() + LIFETIME_MS);
  const passwordDigest = toPasswordDigest(passwordHash);
  const stored = { tokenHash: toDigest(challenge), orgId, userId, method, passwordDigest };
  await insertPendingSignIn(tx, { ...stored, createdAt, expiresAt });
  return { challenge, expiresAt: expiresAt.toISOString() };
}

/**
 * @param tx - locks the factors of the account.
 * @throws AppError 401 SIGN_IN_EXPIRED.
 */
export async function findPending(
  ctx: PendingContext,
  challenge: string,
  tx?: Transaction,
): Promise<Pending> {
  const db = tx ?? ctx.prisma;
  const tokenHash = toDigest(challenge);
  const stored = await findPendingSignIn(db, tokenHash, new Date(ctx.clock()));
  if (!stored || (tx && !(await lockFactors(tx, stored)))) throw signInExpired();
  const { orgId, userId } = stored;
  const account = await findMember(db, orgId, userId);
  if (!account || toPasswordDigest(account.passwordHash) !== stored.passwordDigest) throw signInExpired();
  const step = (await hasSecondFactor(db, { orgId, userId })) ? 'verify' : 'enrol';
  return { account, method: stored.method as FirstFactor, tokenHash, step };
}

/** Returns the account without the hash of its password. */
export const toUser = ({ id, orgId, email, fullName, role }: Account): User => ({
  id,
  orgId,
  email,
  fullName,
  role,
});

export const toMemberOf = ({ account }: Pending) => ({ orgId: account.orgId, userId: account.id });
