import { Prisma as Sql } from '../../generated/prisma/client.js';
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

/** With the letter that it is, sealed. */
export const insertMails = (
  db: Transaction,
  mails: readonly (NewMail & { readonly letterSealed: string })[],
): Promise<unknown> => db.outgoingMail.createMany({ data: [...mails] });

export interface OutgoingMail extends Omit<NewMail, 'expiresAt' | 'nextAttemptAt'> {
  readonly orgId: string;
  readonly letterSealed: string | null;
  readonly attempts: number;
  readonly refusals: number;
  readonly unknownOutcomes: number;
}

export const insertMail = (db: Prisma | Transaction, mail: NewMail): Promise<unknown> =>
  db.outgoingMail.create({ data: mail, select: { id: true } });

/** Of an address that has no account. */
const NO_ORGANISATION = '00000000-0000-0000-0000-000000000000';

/** Finds out whose mails the new ones are: see the column. */
export const assignOrganisations = (db: Prisma, limit: number): Promise<unknown> => db.$executeRaw`
  update outgoing_mails mails
  set org_id = coalesce(
    (select org_id from users where id = mails.user_id),
    (select org_id from users where email = mails.email and removed_at is null),
    ${NO_ORGANISATION}::uuid)
  where id in (select id from outgoing_mails where org_id is null order by id limit ${limit} for update skip locked)`;

/** Mails that share slots. */
export const lanes = ['urgent', 'other'] as const;
export type Lane = (typeof lanes)[number];

/** As the indexes have it. A person sits in front of a screen and waits for the urgent ones. */
const ofLane: Readonly<Record<Lane, Sql.Sql>> = {
  urgent: Sql.sql`kind in ('login_code', 'password_reset')`,
  other: Sql.sql`kind not in ('login_code', 'password_reset')`,
};

export interface Claim {
  readonly lane: Lane;
  readonly now: Date;
  readonly leasedUntil: Date;
  readonly limit: number;
  /** Of one organisation at once. */
  readonly maxPerOrganisation: number;
  /** How many of each organisation this replica has in hand. */
  readonly held: ReadonlyMap<string, number>;
}

/**
 * Claims mails that are due: of each organisation up to its share, one after the other, the longest due first. Mails that
 * another replica has in hand are left to it. The organisations are found by steps through the index, so that those with
 * many mails cost no more than others.
 *
 * No transaction stays open while a mail is sent: a row is claimed by moving it to when it may be claimed again, should
 * this process die with it.
 */
export const claimMails = (
  db: Prisma,
  { lane, now, leasedUntil, limit, maxPerOrganisation, held }: Claim,
): Promise<OutgoingMail[]> => db.$queryRaw<OutgoingMail[]>`
  with recursive organisations (org_id) as (
    (select org_id from outgoing_mails where ${ofLane[lane]} and org_id is not null order by org_id limit 1)
    union all
    select (select mails.org_id from outgoing_mails mails
            where ${ofLane[lane]} and mails.org_id > organisations.org_id order by mails.org_id limit 1)
    from organisations where organisations.org_id is not null
  ), due as (
    select mails.id, mails.next_attempt_at,
           row_number() over (partition by organisations.org_id order by mails.next_attempt_at) as turn
    from organisations cross join lateral (
      select id, next_attempt_at from outgoing_mails
      where ${ofLane[lane]} and org_id = organisations.org_id
        and next_attempt_at <= ${now.toISOString()}::timestamptz and expires_at > ${now.toISOString()}::timestamptz
      order by next_attempt_at
      limit greatest(${maxPerOrganisation}::int
        - coalesce((${JSON.stringify(Object.fromEntries(held))}::jsonb ->> organisations.org_id::text)::int, 0), 0)
    ) mails
  ), claimed as (
    select id from outgoing_mails
    where id in (select id from due order by turn, next_attempt_at limit ${limit})
      and next_attempt_at <= ${now.toISOString()}::timestamptz
    for update skip locked
  )
  update outgoing_mails
  set attempts = attempts + 1, next_attempt_at = ${leasedUntil.toISOString()}::timestamptz
  where id in (select id from claimed)
  returning id::text, kind, org_id::text as "orgId", user_id::text as "userId", email, detail, created_at as "createdAt",
            letter_sealed as "letterSealed", request_id as "requestId", attempts, refusals,
            unknown_outcomes as "unknownOutcomes"`;

export const saveMessage = (db: Transaction, id: string, letterSealed: string): Promise<unknown> =>
  db.outgoingMail.updateMany({ where: { id }, data: { letterSealed } });

export const deleteMail = (db: Prisma, id: string): Promise<unknown> =>
  db.outgoingMail.deleteMany({ where: { id } });

/** Whoever asked for them: those to the address as it was typed, and those to its accounts. @returns how many. */
export const deleteMailsTo = (db: Prisma, email: string): Promise<number> => db.$executeRaw`
  delete from outgoing_mails
  where email = ${email} or user_id in (select id from users where users.email = ${email})`;

export const postponeMail = (
  db: Prisma,
  id: string,
  data: { readonly nextAttemptAt: Date; readonly refusals: number; readonly unknownOutcomes: number },
): Promise<unknown> => db.outgoingMail.updateMany({ where: { id }, data });

/** Ends a mail that is not tried again; an invited member shows why. */
export const giveUpMail = (
  db: Prisma,
  { id, kind, userId }: OutgoingMail,
  problem: { readonly undeliverableReason: string; readonly isDeliveryUnknown: boolean },
): Promise<unknown> =>
  db.$transaction(async (tx) => {
    await tx.outgoingMail.deleteMany({ where: { id } });
    if (kind === 'invitation' && userId !== null)
      await tx.user.updateMany({ where: { id: userId, passwordHash: null }, data: problem });
  });

/** The next invitation may arrive. */
export const clearUndeliverable = (db: Transaction, id: string): Promise<unknown> =>
  db.user.updateMany({
    where: { id, undeliverableReason: { not: null } },
    data: { undeliverableReason: null, isDeliveryUnknown: false },
  });

/** The count ends at `maxCount`: what waits can be many. */
export async function countWaiting(db: Prisma, maxCount: number): Promise<number> {
  const [row] = await db.$queryRaw<[{ count: number }]>`
    select count(*)::int as count from (select 1 from outgoing_mails limit ${maxCount}) waiting`;
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
  readonly createdAt: Date;
  readonly organisation: { readonly name: string; readonly codesEnabled: boolean };
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
      createdAt: true,
      organisation: { select: { name: true, codesEnabled: true } },
    },
  });
