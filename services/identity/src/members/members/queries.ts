import type { Role } from '@platform/auth';
import type { ListWindow } from '@platform/service-kit';
import { insertFactsOfEntries } from '../../audit/record.sql.js';
import type { Actor } from '../../base/caller/actor.js';
import { Prisma } from '../../generated/prisma/client.js';
import { secretLifetimes } from '../../mails/one-time-secrets/secret.js';
import type { GroupReference, User } from './schemas.js';
import type { Prisma as Client, Transaction } from '../../prisma.js';
import { endServerCredentials } from '../server-credentials/server-credentials.sql.js';

const userFields = { id: true, orgId: true, email: true, fullName: true, role: true } as const;

export interface NewUser extends User {
  readonly role: Role;
  readonly passwordHash: string | null;
  readonly createdAt: Date;
}

/*
 * Removes members who haven't accepted their invitation in time, so that their addresses are free again. A member whose
 * link is still valid is kept.
 */
const withdraw = `
  with lapsed as (
    update users set removed_at = $1::timestamptz where id in (
      select id from users
      where removed_at is null and password_hash is null and created_at <= $2::timestamptz
        and ($3::text is null or email = $3::text)
        and not exists (
          select from one_time_secrets secret
          where secret.user_id = users.id and secret.purpose = 'invitation' and secret.expires_at > $1::timestamptz
        )
      order by created_at limit $4::int for update skip locked
    ) returning id, org_id
  ), entry as (
    insert into audit_entries (id, org_id, action, subject_id, created_at)
    select uuid_v7($1::timestamptz), org_id, 'invitation.lapsed', id, $1::timestamptz from lapsed
    returning *
  ) ${insertFactsOfEntries('entry')}`;

/** @param email - undefined removes lapsed invitees of any address. */
export function withdrawLapsedInvitations(
  now: Date,
  limit: number,
  email?: string,
): { readonly text: string; readonly values: (string | number | null)[] } {
  const lapsedFrom = new Date(now.getTime() - secretLifetimes.invitation);
  const values = [now.toISOString(), lapsedFrom.toISOString(), email ?? null, limit];
  return { text: withdraw, values };
}

/** @returns undefined when a member has the e-mail address. A lapsed invitation doesn't reserve it. */
export async function insertUser(db: Client | Transaction, user: NewUser): Promise<User | undefined> {
  const { text, values } = withdrawLapsedInvitations(user.createdAt, 1, user.email);
  await db.$executeRawUnsafe(text, ...values);
  try {
    return await db.user.create({ data: user, select: userFields });
  } catch (error) {
    if (error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002') return undefined;
    throw error;
  }
}

/** A member with the fields that a sign-in checks. A member without a password hasn't accepted the invitation. */
export interface Account extends User {
  readonly passwordHash: string | null;
}
const accountFields = { ...userFields, passwordHash: true } as const;

/** Finds a member of the organisation, unless they were removed. */
export const findMember = (db: Client | Transaction, orgId: string, id: string): Promise<Account | null> =>
  db.user.findFirst({ where: { id, orgId, removedAt: null }, select: accountFields });

export const findUserByEmail = (db: Client | Transaction, email: string): Promise<Account | null> =>
  db.user.findFirst({ where: { email, removedAt: null }, select: accountFields });

/**
 * Locks the account against password changes and removal until the transaction ends.
 *
 * @returns false when the member was removed or the password has changed since it was read.
 */
export async function lockUnchangedAccount(
  db: Transaction,
  id: string,
  passwordHash: string | null,
): Promise<boolean> {
  const rows = await db.$queryRaw<unknown[]>`
    select 1 from users
    where id = ${id}::uuid and removed_at is null and password_hash = ${passwordHash} for share`;
  return rows.length > 0;
}

/** @returns undefined when the member was removed. */
export async function changePassword(
  db: Transaction,
  id: string,
  passwordHash: string,
): Promise<User | undefined> {
  const where = { id, removedAt: null, passwordHash: { not: null } };
  const [user] = await db.user.updateManyAndReturn({ where, data: { passwordHash }, select: userFields });
  return user;
}

/** @returns false when the member was removed, or the password has been replaced meanwhile. */
export async function replacePassword(
  db: Transaction,
  id: string,
  replacedHash: string,
  passwordHash: string,
): Promise<boolean> {
  const where = { id, removedAt: null, passwordHash: replacedHash };
  return (await db.user.updateMany({ where, data: { passwordHash } })).count > 0;
}

/** @returns undefined when the member was removed, or has a password. */
export async function setFirstPassword(
  db: Transaction,
  id: string,
  passwordHash: string,
  fullName: string | undefined,
): Promise<User | undefined> {
  const [user] = await db.user.updateManyAndReturn({
    where: { id, removedAt: null, passwordHash: null },
    data: { passwordHash, ...(fullName === undefined ? {} : { fullName }) },
    select: userFields,
  });
  return user;
}

/** Makes the member an administrator with a new password. @returns false when the member was removed. */
export async function setAdministrator(db: Transaction, id: string, passwordHash: string): Promise<boolean> {
  const where = { id, removedAt: null };
  const { count } = await db.user.updateMany({ where, data: { role: 'admin', passwordHash } });
  return count > 0;
}

export const updateUser = (
  db: Transaction,
  id: string,
  change: { readonly fullName?: string; readonly role?: Role },
): Promise<User> => db.user.update({ where: { id }, data: change, select: userFields });

/**
 * Marks the member removed. The row stays, because the administrators' list of tokens shows the owner. The member's own
 * credentials at MCP servers end.
 *
 * @param state - `invited` leaves a member who has joined as they are.
 * @returns false for such a member.
 */
export async function markRemoved(
  db: Transaction,
  id: string,
  { actor, at, state }: { readonly actor: Actor; readonly at: Date; readonly state?: 'invited' | undefined },
): Promise<boolean> {
  const where = { id, ...(state === 'invited' && { passwordHash: null }) };
  if ((await db.user.updateMany({ where, data: { removedAt: at } })).count === 0) return false;
  await endServerCredentials(db, { accountId: id }, { actor, at, reason: 'account_removed' });
  return true;
}

export async function countMembers(db: Client, orgId: string): Promise<number> {
  const counters = await db.organisationCounters.findUnique({ where: { orgId }, select: { members: true } });
  return Number(counters?.members ?? 0);
}

/** A member with the fields of the administrators' list. */
export interface MemberRow extends Account {
  readonly undeliverableReason: string | null;
  readonly isDeliveryUnknown: boolean;
  readonly totpFactor: { readonly userId: string } | null;
  readonly passkeys: readonly { readonly id: string }[];
  readonly providerLink: { readonly userId: string } | null;
}
const memberFields = {
  ...accountFields,
  undeliverableReason: true,
  isDeliveryUnknown: true,
  totpFactor: { select: { userId: true } },
  passkeys: { select: { id: true } },
  providerLink: { select: { userId: true } },
} as const;

const findByIds = (db: Client, orgId: string, ids: readonly string[]): Promise<MemberRow[]> =>
  db.user.findMany({
    where: { orgId, id: { in: [...ids] } },
    orderBy: { id: 'desc' },
    select: memberFields,
  });

/** Finds a member with what a list shows of them. */
export const findMemberRow = (db: Client, orgId: string, id: string): Promise<MemberRow | null> =>
  db.user.findFirst({ where: { orgId, id, removedAt: null }, select: memberFields });

export interface MemberUse {
  readonly groups: readonly GroupReference[];
  readonly lastSeenAt: Date | null;
}

/** Finds the groups of a member, and when they last signed in or something last acted for them. */
export async function findMemberUse(db: Client, id: string): Promise<MemberUse> {
  const [groups, [seen]] = await Promise.all([
    db.$queryRaw<GroupReference[]>`
      select g.id::text, g.name, g.source from group_members m join groups g on g.id = m.group_id
      where m.member_id = ${id}::uuid order by g.name_key, g.source`,
    db.$queryRaw<{ at: Date | null }[]>`
      select greatest(
        (select max(created_at) from sessions where user_id = ${id}::uuid),
        (select max(last_used_at) from token_last_used used join personal_access_tokens t on t.id = used.token_id
         where t.owner_id = ${id}::uuid and t.status = 'active'),
        (select max(last_used_at) from oauth_grants where user_id = ${id}::uuid)) as at`,
  ]);
  return { groups, lastSeenAt: seen?.at ?? null };
}

/** Finds a page of members, newest first; an index-only scan finds the ids of the page. */
export async function findMembers(db: Client, orgId: string, window: ListWindow): Promise<MemberRow[]> {
  const page = await db.user.findMany({
    where: { orgId, removedAt: null, ...(window.beforeId !== undefined && { id: { lt: window.beforeId } }) },
    orderBy: { id: window.isFromEnd ? 'asc' : 'desc' },
    skip: window.offset,
    take: window.count,
    select: { id: true },
  });
  return findByIds(
    db,
    orgId,
    page.map(({ id }) => id),
  );
}

/** The conditions and the order of a search; undefined matches every member. */
export interface MemberFilter {
  readonly q: string | undefined;
  readonly state: 'joined' | 'invited' | 'stalled' | undefined;
  /** Invitations from before then lapse soon. */
  readonly stalledBefore: Date;
  readonly role: Role | undefined;
  /** By name, or else newest first. */
  readonly isByName: boolean;
}

/** The number of members that one search reads at most, so that its cost doesn't grow with the organisation. */
const MAX_SEARCHED = 10_000;

export interface MemberSearch {
  readonly rows: MemberRow[];
  /** After a cursor only as many as were read. */
  readonly total: number;
  readonly totalIsMinimum: boolean;
  readonly nextCursor: string | null;
}

/**
 * Reads members in the order of an index, `users_org_members` or `users_org_names`, and applies the conditions to at most
 * MAX_SEARCHED of them. The cursor is the last member of the page, or the last one read. After a cursor nothing is
 * counted, and the page ends the reading.
 */
export async function searchMembers(
  db: Client,
  orgId: string,
  { isByName, ...filter }: MemberFilter,
  { offset, limit, afterId }: { readonly offset: number; readonly limit: number; readonly afterId?: string },
): Promise<MemberSearch> {
  const { q, state, role } = { q: filter.q ?? null, state: filter.state ?? null, role: filter.role ?? null };
  const order = isByName ? Prisma.sql`lower(full_name), id` : Prisma.sql`id desc`;
  const after =
    afterId === undefined
      ? Prisma.sql`true`
      : isByName
        ? Prisma.sql`(lower(full_name), id) > (
            select lower(full_name), id from users where id = ${afterId}::uuid and org_id = ${orgId}::uuid)`
        : Prisma.sql`id < ${afterId}::uuid`;
  const isCounted = afterId === undefined;
  const [found] = await db.$queryRaw<[{ total: number; last: string | null; ids: string[] }]>`
    with searched as materialized (
      select id, email, full_name, role, password_hash is null as is_invited,
        password_hash is null and (undeliverable_reason is not null or created_at < ${filter.stalledBefore}) as is_stalled
      from users
      where org_id = ${orgId}::uuid and removed_at is null and ${after}
      order by ${order} limit ${MAX_SEARCHED}
    ), matching as materialized (
      select id, row_number() over () as place from searched
      where (${q}::text is null or strpos(lower(full_name || ' ' || email), lower(${q})) > 0)
        and (${state}::text is null or case ${state} when 'stalled' then is_stalled else is_invited = (${state} = 'invited') end)
        and (${role}::text is null or role::text = ${role})
      limit ${isCounted ? MAX_SEARCHED : limit + 1}
    )
    select (select count(*)::int from matching) as total,
           case when ${isCounted} or (select count(*) from matching) <= ${limit}
             then (select id::text from searched offset ${MAX_SEARCHED - 1} limit 1) end as last,
           array(select id::text from matching order by place limit ${limit} offset ${offset}) as ids`;
  const nextCursor = found.total > offset + limit ? (found.ids.at(-1) ?? null) : found.last;
  const byId = new Map((await findByIds(db, orgId, found.ids)).map((row) => [row.id, row]));
  return {
    rows: found.ids.flatMap((id) => byId.get(id) ?? []),
    total: found.total,
    totalIsMinimum: (isCounted ? found.last : nextCursor) !== null,
    nextCursor,
  };
}
