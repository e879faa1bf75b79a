import { randomUUID } from 'node:crypto';
import { inTransaction } from '@platform/service-kit';
import type pg from 'pg';
import { insertFacts } from '../../audit/facts.queries.js';
import { queryRows, type SqlClient } from '../../base/transaction.js';
import type { Prisma, Transaction } from '../../resources.js';
import { recordInvitationOutcome } from './invitation-outcomes.js';
import { type MailKind, templateTypes } from './mail-kind.js';

export interface NewMail {
  readonly id: string;
  readonly kind: MailKind;
  /** Either this or `email` is set: an account, or an address as it was entered. */
  readonly userId: string | null;
  readonly email: string | null;
  readonly detail: Readonly<Record<string, string>>;
  /** The id of the request that caused the mail; null when no request did, or for mails of older releases. */
  readonly requestId: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly nextAttemptAt: Date;
  readonly reportsTheft: boolean;
  /** Null for a mail that is sent by itself. */
  readonly mergeKey: string | null;
  /** The complete message; null for a mail that is composed when it is sent. */
  readonly sealedMessage: string | null;
}

export interface OutgoingMail extends Omit<NewMail, 'nextAttemptAt' | 'reportsTheft'> {
  readonly attempts: number;
}

/* One parameter, whatever the number of mails. */
const insert = `
  insert into outgoing_mails (id, kind, user_id, email, detail, request_id, created_at, expires_at, next_attempt_at,
    reports_theft, merge_key, sealed_message)
  select * from jsonb_to_recordset($1::jsonb) as mail (id uuid, kind text, "userId" uuid, email text, detail jsonb,
    "requestId" text, "createdAt" timestamptz, "expiresAt" timestamptz, "nextAttemptAt" timestamptz,
    "reportsTheft" boolean, "mergeKey" text, "sealedMessage" text)`;

/** Inserts mails, in the transaction of what causes them. */
export const insertMails = (db: SqlClient, mails: readonly NewMail[]): Promise<unknown> =>
  queryRows(db, insert, [JSON.stringify(mails)]);

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

type UnsentMail = Pick<OutgoingMail, 'id' | 'kind' | 'userId' | 'email' | 'attempts'>;

/** Records that mails were never stored by the mail service, which therefore reports nothing of them. */
async function recordUnsent(
  db: SqlClient,
  mails: readonly UnsentMail[],
  problem: { readonly code: string },
  at: Date,
): Promise<void> {
  const rows = await queryRows<{ readonly id: string; readonly orgId: string }>(
    db,
    `select mail.id::text, users.org_id::text as "orgId"
     from jsonb_to_recordset($1::jsonb) as mail (id uuid, "userId" uuid, email text)
     join users on users.id = mail."userId" or (users.email = mail.email and users.removed_at is null)`,
    [JSON.stringify(mails)],
  );
  // Nobody has the address of the others.
  const orgIds = new Map(rows.map(({ id, orgId }) => [id, orgId]));
  const facts = mails.flatMap(({ id: mailId, kind, attempts }) => {
    const orgId = orgIds.get(mailId);
    if (orgId === undefined) return [];
    const data = { mailId, emailTemplateType: templateTypes[kind], recipients: 1, attempts, problem };
    return [{ id: randomUUID(), orgId, type: 'mail.failed', at: at.toISOString(), data } as const];
  });
  if (facts.length > 0) await insertFacts(db, facts);
  for (const { orgId, type, data } of facts)
    await recordInvitationOutcome(db, { orgId, mailId: data.mailId, type, problem });
}

/** Deletes a batch of mails whose code, link or notice has expired. @returns how many. */
export const expireMails = (pool: pg.Pool, now: Date, limit: number): Promise<number> =>
  inTransaction(pool, async (client) => {
    const { rows } = await client.query<UnsentMail>(
      `delete from outgoing_mails where id in (
         select id from outgoing_mails where expires_at <= $1 order by expires_at limit $2 for update skip locked)
       returning id, kind, user_id as "userId", email, attempts`,
      [now, limit],
    );
    await recordUnsent(client, rows, { code: 'EEXPIRED' }, now);
    return rows.length;
  });

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
