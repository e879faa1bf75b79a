import { generateToken } from '../../mails/one-time-secrets/secret.js';
import type { Prisma, Transaction } from '../../prisma.js';
import { USED } from './sign-in-challenges.js';

/*
 * A challenge is what a passkey signs. Each is random, belongs to one session or sign-in under way, lasts ten minutes, and
 * is deleted by whatever is presented for it, on all replicas together. A new one replaces the one before, so nobody fills
 * the table.
 */

const LIFETIME_MS = 10 * 60_000;

/** The purpose of a challenge, and the session or sign-in that it belongs to. */
export interface ChallengeHolder {
  readonly purpose: 'use' | 'set_up';
  /** The session, or the digest of the pending sign-in. */
  readonly holder: string;
}

const toKey = ({ purpose, holder }: ChallengeHolder): string => `${purpose}:${holder}`;

/** Creates a challenge, in place of the holder's earlier one. */
export async function issueChallenge(
  db: Prisma | Transaction,
  userId: string,
  holder: ChallengeHolder,
  now: number,
): Promise<string> {
  const challenge = generateToken();
  const expiresAt = new Date(now + LIFETIME_MS).toISOString();
  await db.$executeRaw`
    insert into passkey_challenges (holder, user_id, challenge, expires_at)
    values (${toKey(holder)}, ${userId}::uuid, ${challenge}, ${expiresAt}::timestamptz)
    on conflict (holder) do update set user_id = excluded.user_id, challenge = excluded.challenge, expires_at = excluded.expires_at`;
  return challenge;
}

/** Uses the holder's challenge up; of concurrent calls one gets it. @returns undefined when there is none. */
export async function consumeChallenge(
  db: Transaction,
  userId: string,
  holder: ChallengeHolder,
  now: Date,
): Promise<string | undefined> {
  const rows = await db.$queryRaw<{ challenge: string }[]>`
    delete from passkey_challenges
    where holder = ${toKey(holder)} and user_id = ${userId}::uuid and expires_at > ${now.toISOString()}::timestamptz
    returning challenge`;
  return rows[0]?.challenge;
}

/** Ends what the account's sessions and sign-ins have begun; what was used stays used. Call it when a factor changes: a set-up belongs to the factors from then. */
export const deleteChallenges = (db: Transaction, userId: string): Promise<unknown> =>
  db.passkeyChallenge.deleteMany({ where: { userId, NOT: { holder: { startsWith: USED } } } });
