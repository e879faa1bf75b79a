import type { Prisma, Transaction } from '../../resources.js';
import type { LinkPurpose, SecretPurpose } from './secret.js';

export interface NewSecret {
  readonly purpose: SecretPurpose;
  readonly subject: string;
  /** Null: nobody has the address, and the secret opens nothing. */
  readonly userId: string | null;
  readonly secretHash: string;
  readonly secretSealed: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly triesLeft: number;
  /** Since when tries are counted, and until when an earlier count goes on; null for links. */
  readonly tries: { readonly since: Date; readonly goesOnFrom: Date } | null;
}

export interface StoredSecret {
  readonly userId: string | null;
  readonly secretHash: string;
  /** May be an earlier secret's: a replica of an older release replaces the hash alone. */
  readonly secretSealed: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly usedAt: Date | null;
  readonly triesLeft: number;
  readonly triesSince: Date | null;
}

/** What was issued last for the address, locked until the transaction ends. */
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

/** It is mailed again, and works as long from now as a new one would. */
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
 * The one before of the same purpose and address works no more.
 *
 * @returns false when a newer one is there already: then this one was never made.
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
 * One guess at a code; a wrong one is counted. Checked, counted and used up in one statement: of guesses at once, each waits
 * for the row and sees the tries that the others left.
 *
 * @returns the user whose code it was.
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

/** Whether the link would work now: asked before the work of hashing a password is done for it. */
export const hasLink = async (
  db: Prisma,
  purpose: LinkPurpose,
  secretHash: string,
  now: Date,
): Promise<boolean> =>
  (await db.oneTimeSecret.findFirst({
    where: { purpose, secretHash, usedAt: null, expiresAt: { gt: now }, user: { removedAt: null } },
    select: { purpose: true },
  })) !== null;

/** Whose link it is, while it works. */
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

/** Uses a link up; of several at once one does. @returns the user it was sent to. */
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

/** What was mailed to the account before works no more. */
export const deleteSecrets = (db: Transaction, userId: string): Promise<unknown> =>
  db.oneTimeSecret.deleteMany({ where: { userId } });
