import type { Prisma, Transaction } from '../../resources.js';
import type { MailKind } from './mail-kind.js';

export interface NewMail {
  readonly id: string;
  readonly kind: MailKind;
  /** One of both: an account, or an address as somebody typed it. */
  readonly userId: string | null;
  readonly email: string | null;
  readonly detail: Readonly<Record<string, string>>;
  /** Of the request that caused the mail; null for mails that no request caused, and older ones. */
  readonly requestId: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly nextAttemptAt: Date;
}

export interface OutgoingMail extends Omit<NewMail, 'expiresAt' | 'nextAttemptAt'> {
  readonly letterSealed: string | null;
  readonly attempts: number;
  readonly refusals: number;
}

export const insertMail = (db: Prisma | Transaction, mail: NewMail): Promise<unknown> =>
  db.outgoingMail.create({ data: mail, select: { id: true } });

/**
 * Takes mails that are due, what was tried least first, and leaves what another replica has in hand.
 * No transaction stays open while a mail is sent: a row is taken by moving it to when it may be taken
 * again, should this process die with it.
 */
export const claimMails = (
  db: Prisma,
  now: Date,
  leasedUntil: Date,
  limit: number,
): Promise<OutgoingMail[]> => db.$queryRaw<OutgoingMail[]>`
  update outgoing_mails
  set attempts = attempts + 1, next_attempt_at = ${leasedUntil.toISOString()}::timestamptz
  where id in (
    select id from outgoing_mails
    where next_attempt_at <= ${now.toISOString()}::timestamptz and expires_at > ${now.toISOString()}::timestamptz
    order by attempts, next_attempt_at limit ${limit} for update skip locked
  )
  returning id::text, kind, user_id::text as "userId", email, detail, created_at as "createdAt",
            letter_sealed as "letterSealed", request_id as "requestId", attempts, refusals`;

export const saveLetter = (db: Transaction, id: string, letterSealed: string): Promise<unknown> =>
  db.outgoingMail.updateMany({ where: { id }, data: { letterSealed } });

export const deleteMail = (db: Prisma, id: string): Promise<unknown> =>
  db.outgoingMail.deleteMany({ where: { id } });

export const postponeMail = (
  db: Prisma,
  id: string,
  nextAttemptAt: Date,
  refusals: number,
): Promise<unknown> => db.outgoingMail.updateMany({ where: { id }, data: { nextAttemptAt, refusals } });

/** The count ends at `countMax`: what waits can be many. */
export async function countWaiting(db: Prisma, countMax: number): Promise<number> {
  const [row] = await db.$queryRaw<[{ count: number }]>`
    select count(*)::int as count from (select 1 from outgoing_mails limit ${countMax}) waiting`;
  return row.count;
}

/** Ids are UUIDv7: the first one is the oldest mail's. */
export const findOldestWaiting = (db: Prisma): Promise<{ readonly createdAt: Date } | null> =>
  db.outgoingMail.findFirst({ orderBy: { id: 'asc' }, select: { createdAt: true } });

export interface Addressee {
  readonly id: string;
  readonly orgId: string;
  readonly email: string;
  readonly fullName: string;
  readonly passwordHash: string | null;
  readonly organisation: { readonly name: string };
}

/** The present member, by id or by address. */
export const findAddressee = (
  db: Transaction,
  { userId, email }: Pick<OutgoingMail, 'userId' | 'email'>,
): Promise<Addressee | null> =>
  db.user.findFirst({
    where: { ...(userId === null ? { email: email ?? '' } : { id: userId }), removedAt: null },
    select: {
      id: true,
      orgId: true,
      email: true,
      fullName: true,
      passwordHash: true,
      organisation: { select: { name: true } },
    },
  });
