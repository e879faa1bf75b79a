import type { Prisma, Transaction } from '../../prisma.js';
import { recordUnsent } from './outbox.sql.js';
import type { OutgoingMail } from './outbox.sql.js';

export const saveMessage = (db: Transaction, id: string, sealedMessage: string): Promise<unknown> =>
  db.outgoingMail.updateMany({ where: { id }, data: { sealedMessage } });

/** Locks the mails that are waiting to be merged, in the order of their causes. */
export const lockMergeable = (
  db: Transaction,
  { userId, mergeKey }: Pick<OutgoingMail, 'userId' | 'mergeKey'>,
): Promise<Pick<OutgoingMail, 'id' | 'detail'>[]> => db.$queryRaw`
  select id::text, detail from outgoing_mails
  where user_id = ${userId}::uuid and merge_key = ${mergeKey} and sealed_message is null
  order by id for update`;

export const deleteMails = (db: Transaction, ids: readonly string[]): Promise<unknown> =>
  db.outgoingMail.deleteMany({ where: { id: { in: [...ids] } } });

/** Deletes a mail that the mail service will never store. */
export const abandonMail = (db: Prisma, mail: OutgoingMail, code: string, at: Date): Promise<unknown> =>
  db.$transaction(async (tx) => {
    await tx.outgoingMail.deleteMany({ where: { id: mail.id } });
    await recordUnsent(tx, [mail], { code }, at);
  });

export const deleteMail = (db: Prisma, id: string): Promise<unknown> =>
  db.outgoingMail.deleteMany({ where: { id } });

/** Deletes the mails to an address, and to the accounts that have it. @returns how many were deleted. */
export const deleteMailsTo = (db: Transaction, email: string): Promise<number> => db.$executeRaw`
  delete from outgoing_mails
  where email = ${email} or user_id in (select id from users where users.email = ${email})`;

export const postponeMail = (db: Prisma, id: string, nextAttemptAt: Date): Promise<unknown> =>
  db.outgoingMail.updateMany({ where: { id }, data: { nextAttemptAt } });

/** Stores which mail is the member's invitation from now on. What became of earlier ones doesn't matter any more. */
export const saveInvitationMail = (db: Transaction, userId: string, mailId: string): Promise<unknown> =>
  db.user.updateMany({
    where: { id: userId },
    data: { invitationMailId: mailId, undeliverableReason: null, isDeliveryUnknown: false },
  });

/** Counts the waiting mails, up to `maxCount`, so that a large outbox doesn't make it slow. */
export async function countWaiting(db: Prisma, maxCount: number): Promise<number> {
  const [row] = await db.$queryRaw<[{ count: number }]>`
    select count(*)::int as count from (select 1 from outgoing_mails limit ${maxCount}) waiting`;
  return row.count;
}

/** Finds the oldest mail by the smallest id, since ids are UUIDv7. */
export const findOldestWaiting = (db: Prisma): Promise<{ readonly createdAt: Date } | null> =>
  db.outgoingMail.findFirst({ orderBy: { id: 'asc' }, select: { createdAt: true } });

export interface Addressee {
  readonly id: string;
  readonly orgId: string;
  readonly email: string;
  readonly fullName: string;
  /** Of the mails to the member; null for the language of the organisation's mails. */
  readonly language: string | null;
  readonly passwordHash: string | null;
  readonly createdAt: Date;
  readonly organisation: { readonly name: string; readonly codesEnabled: boolean };
}

/** Finds the member by id or address, unless they were removed. */
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
      language: true,
      passwordHash: true,
      createdAt: true,
      organisation: { select: { name: true, codesEnabled: true } },
    },
  });
