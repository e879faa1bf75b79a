import type { Prisma, Transaction } from '../../prisma.js';
import type { LinkPurpose, SecretPurpose } from './secret.js';

export interface NewSecret {
  readonly purpose: SecretPurpose;
  readonly subject: string;
  /** Null when no account has the address: the secret then authenticates nobody. */
  readonly userId: string | null;
  readonly secretHash: string;
  readonly secretSealed: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly triesLeft: number;
  /** The time at which the count of tries begins, and the earliest count that it continues; null for links. */
  readonly tries: { readonly since: Date; readonly goesOnFrom: Date } | null;
}

export interface StoredSecret {
  readonly userId: string | null;
  readonly secretHash: string;
  /** May belong to an earlier secret, because replicas of an older release replace the hash alone. */
  readonly secretSealed: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly usedAt: Date | null;
  readonly triesLeft: number;
  readonly triesSince: Date | null;
}

/** Finds the secret that was last issued to the address, and locks it until the transaction ends. */
export async function lockSecret(
  db: Transaction,
  purpose: SecretPurpose,
  subject: string,
): Promise<StoredSecret | undefined> {
  const [row] = await db.$queryRaw<StoredSecret[]>`
    select user_id::text as "userId", secret_hash as "secretHash", secret_sealed as "secretSealed", created_at as "createdAt",
           expires_at as "expiresAt", used_at as "usedAt", tries_left as "triesLeft", tries_since as "triesSince"
    from one_time_secrets where purpose = ${purpose} and subject = ${subject} for update`;
  return row;
}

/** Renews the expiry of a secret that is mailed again. */
export const extendSecret = (
  db: Transaction,
  purpose: SecretPurpose,
  subject: string,
  expiresAt: Date,
): Promise<unknown> =>
  db.oneTimeSecret.update({
    where: { purpose_subject: { purpose, subject } },
    data: { expiresAt },
    select: { purpose: true },
  });

/**
 * Stores a secret, which replaces the previous one of the same purpose and address.
 *
 * @returns false when there is a newer one already; nothing is stored then.
 */
export async function replaceSecret(db: Transaction, secret: NewSecret): Promise<boolean> {
  const { purpose, subject, userId, secretHash, secretSealed, createdAt, expiresAt, triesLeft, tries } =
    secret;
  const triesSince = tries?.since.toISOString() ?? null;
  const goesOnFrom = tries?.goesOnFrom.toISOString() ?? null;
  const written = await db.$executeRaw`
    insert into one_time_secrets as present
      (purpose, subject, user_id, secret_hash, secret_sealed, created_at, expires_at, tries_left, tries_since)
    values (${purpose}, ${subject}, ${userId}::uuid, ${secretHash}, ${secretSealed}, ${createdAt.toISOString()}::timestamptz,
            ${expiresAt.toISOString()}::timestamptz, ${triesLeft}, ${triesSince}::timestamptz)
    on conflict (purpose, subject) do update
      set user_id = excluded.user_id, secret_hash = excluded.secret_hash, secret_sealed = excluded.secret_sealed,
          created_at = excluded.created_at, expires_at = excluded.expires_at, used_at = null,
          tries_left = case when present.tries_since > ${goesOnFrom}::timestamptz
                            then present.tries_left else excluded.tries_left end,
          tries_since = case when present.tries_since > ${goesOnFrom}::timestamptz
                             then present.tries_since else excluded.tries_since end
      where present.created_at <= excluded.created_at`;
  return written > 0;
}

/**
 * Verifies a code; a wrong guess is counted. One statement checks, counts and consumes, so that concurrent guesses wait
 * for the row and each sees the tries that the others left.
 *
 * @returns the user whom the code was issued to; undefined when it is wrong or no longer valid.
 */
export async function verifyCode(
  db: Prisma,
  subject: string,
  hashes: readonly string[],
  now: Date,
): Promise<string | undefined> {
  const at = now.toISOString();
  const [row] = await db.$queryRaw<{ userId: string | null; isCorrect: boolean }[]>`
    update one_time_secrets
    set tries_left = tries_left - case when secret_hash = any(${hashes}::text[]) then 0 else 1 end,
        used_at = case when secret_hash = any(${hashes}::text[]) then ${at}::timestamptz end
    where purpose = 'login_code' and subject = ${subject}
      and used_at is null and tries_left > 0 and expires_at > ${at}::timestamptz
    returning user_id::text as "userId", used_at is not null as "isCorrect"`;
  return row?.isCorrect === true ? (row.userId ?? undefined) : undefined;
}

/** Finds the account that a valid link belongs to. */
export const findLink = (db: Prisma, secretHash: string, now: Date) =>
  db.oneTimeSecret.findFirst({
    where: {
      purpose: { not: 'login_code' },
      secretHash,
      usedAt: null,
      expiresAt: { gt: now },
      user: { removedAt: null },
    },
    select: {
      purpose: true,
      expiresAt: true,
      user: { select: { email: true, fullName: true, organisation: { select: { name: true } } } },
    },
  });

/** Consumes a link; of concurrent calls exactly one succeeds. @returns the user it was sent to. */
export async function consumeLink(
  db: Transaction,
  purpose: LinkPurpose,
  secretHash: string,
  now: Date,
): Promise<string | undefined> {
  const at = now.toISOString();
  const [row] = await db.$queryRaw<{ userId: string }[]>`
    update one_time_secrets secret
    set tries_left = 0, used_at = ${at}::timestamptz
    from users
    where secret.purpose = ${purpose} and secret.purpose <> 'login_code' and secret.secret_hash = ${secretHash}
      and secret.used_at is null and secret.expires_at > ${at}::timestamptz
      and users.id = secret.user_id and users.removed_at is null
    returning secret.user_id::text as "userId"`;
  return row?.userId;
}

/** Revokes all codes and links that were mailed to the account. */
export const deleteSecrets = (db: Transaction, userId: string): Promise<unknown> =>
  db.oneTimeSecret.deleteMany({ where: { userId } });
