import type { Prisma, Transaction } from '../../resources.js';
import type { LinkPurpose, SecretPurpose } from './secret.js';

export interface NewSecret {
  readonly purpose: SecretPurpose;
  readonly subject: string;
  /** Null: nobody has the address, and the secret opens nothing. */
  readonly userId: string | null;
  readonly secretHash: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly triesLeft: number;
}

/**
 * The one before of the same purpose and address works no more.
 *
 * @returns false when a newer one is there already: then this one was never made.
 */
export async function replaceSecret(db: Transaction, secret: NewSecret): Promise<boolean> {
  const { purpose, subject, userId, secretHash, createdAt, expiresAt, triesLeft } = secret;
  const written = await db.$executeRaw`
    insert into one_time_secrets as present
      (purpose, subject, user_id, secret_hash, created_at, expires_at, tries_left)
    values (${purpose}, ${subject}, ${userId}::uuid, ${secretHash}, ${createdAt.toISOString()}::timestamptz,
            ${expiresAt.toISOString()}::timestamptz, ${triesLeft})
    on conflict (purpose, subject) do update
      set user_id = excluded.user_id, secret_hash = excluded.secret_hash, created_at = excluded.created_at,
          expires_at = excluded.expires_at, tries_left = excluded.tries_left, used_at = null
      where present.created_at <= excluded.created_at`;
  return written > 0;
}

/**
 * One guess at a code. Checked, counted and used up in one statement: of guesses at once, each waits
 * for the row and sees the tries that the others left.
 *
 * @returns the user whose code it was.
 */
export async function guessCode(
  db: Prisma,
  subject: string,
  hashes: readonly string[],
  now: Date,
): Promise<string | undefined> {
  const at = now.toISOString();
  const [row] = await db.$queryRaw<{ userId: string | null; isRight: boolean }[]>`
    update one_time_secrets
    set tries_left = tries_left - 1,
        used_at = case when secret_hash = any(${hashes}::text[]) then ${at}::timestamptz end
    where purpose = 'login_code' and subject = ${subject}
      and used_at is null and tries_left > 0 and expires_at > ${at}::timestamptz
    returning user_id::text as "userId", used_at is not null as "isRight"`;
  return row?.isRight === true ? (row.userId ?? undefined) : undefined;
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

/** Uses a link up; of several at once one does. @returns the user it was sent to. */
export async function takeLink(
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
export const deleteSecretsOf = (db: Transaction, userId: string): Promise<unknown> =>
  db.oneTimeSecret.deleteMany({ where: { userId } });
