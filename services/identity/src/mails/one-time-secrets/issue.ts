import { toDigest } from '@platform/auth';
import type { SecretBox } from '@platform/service-kit';
import type { Transaction } from '../../prisma.js';
import { extendSecret, lockSecret, replaceSecret, type StoredSecret } from './queries.js';
import { secretLifetimes, type SecretPurpose, WRONG_CODES_PER_DAY, WRONG_CODES_WINDOW_MS } from './secret.js';

/*
 * A new request must not revoke what was just mailed, or anyone could keep the owner from ever using a code or link. So
 * the same secret is mailed again while at least half of its lifetime is left, and a new one only after that.
 *
 * Invitations are different: an invitation reserves an address, and anyone can request its link again. Its expiry is
 * never extended: the same link is mailed until it expires.
 */

export interface SecretRequest {
  readonly purpose: SecretPurpose;
  readonly email: string;
  readonly userId: string | null;
  readonly at: Date;
  /** A fixed expiry, however often the secret is mailed. Undefined: each mail renews the expiry. */
  readonly endsAt: Date | undefined;
}

export interface SecretKind {
  make(): string;
  /** Returns the digests of a secret: the first one is stored, any of them is accepted. */
  digests(secret: string): readonly [string, ...string[]];
}

/** The context that binds a sealed secret to its address, so that it can't be opened in another row. */
const sealContext = (purpose: SecretPurpose, subject: string): string =>
  `one-time-secret:${purpose}:${subject}`;

/** Returns whether the stored secret can be mailed again rather than replaced. */
function isReusable(
  present: StoredSecret,
  { purpose, userId, at, endsAt }: Omit<SecretRequest, 'email'>,
): boolean {
  const ageMs = at.getTime() - present.createdAt.getTime();
  const isOpen = present.usedAt === null && present.triesLeft > 0 && present.expiresAt > at;
  const isFresh = endsAt !== undefined || ageMs <= secretLifetimes[purpose] / 2;
  return isOpen && present.userId === userId && ageMs >= 0 && isFresh;
}

/** @returns undefined when the key is lost or the hash belongs to another secret; a new secret is issued then. */
function unseal(
  box: SecretBox,
  { secretSealed, secretHash }: StoredSecret,
  context: string,
  digests: SecretKind['digests'],
): string | undefined {
  try {
    const secret = secretSealed === null ? undefined : box.open(secretSealed, context);
    return secret !== undefined && digests(secret).includes(secretHash) ? secret : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Issues a secret: the one mailed before, or a new one.
 *
 * @returns undefined when its time is over, or a newer one was issued meanwhile.
 */
export async function issueSecret(
  box: SecretBox,
  tx: Transaction,
  { purpose, email, userId, at, endsAt }: SecretRequest,
  { make, digests }: SecretKind,
): Promise<{ readonly secret: string; readonly expiresAt: Date } | undefined> {
  const subject = toDigest(email);
  const context = sealContext(purpose, subject);
  const expiresAt = endsAt ?? new Date(at.getTime() + secretLifetimes[purpose]);
  const present = await lockSecret(tx, purpose, subject);
  const isCode = purpose === 'login_code';
  if (present && isReusable(present, { purpose, userId, at, endsAt })) {
    const secret = unseal(box, present, context, digests);
    if (secret !== undefined) {
      if (endsAt) return { secret, expiresAt: present.expiresAt };
      await extendSecret(tx, purpose, subject, expiresAt);
      return { secret, expiresAt };
    }
  }
  if (expiresAt <= at) return undefined;
  const secret = make();
  const isNewest = await replaceSecret(tx, {
    purpose,
    subject,
    userId,
    secretHash: digests(secret)[0],
    createdAt: at,
    expiresAt,
    secretSealed: box.seal(secret, context),
    triesLeft: isCode ? WRONG_CODES_PER_DAY : 1,
    tries: isCode ? { since: at, goesOnFrom: new Date(at.getTime() - WRONG_CODES_WINDOW_MS) } : null,
  });
  return isNewest ? { secret, expiresAt } : undefined;
}
