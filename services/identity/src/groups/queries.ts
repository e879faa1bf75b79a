import type { ListWindow } from '@platform/service-kit';
import { Prisma } from '../generated/prisma/client.js';
import type { Prisma as Client, Transaction } from '../prisma.js';
import type { GroupSource } from './schemas.js';

export interface GroupRow {
  readonly id: string;
  readonly name: string;
  readonly source: GroupSource;
  readonly externalId: string | null;
  readonly createdAt: Date;
}

/** Returns the name in the one spelling by which names are compared. */
export const toNameKey = (name: string): string => name.normalize('NFKC').toLowerCase();

/**
 * Lets the groups of the organisation be created, renamed and removed by one transaction at a time. It is taken before
 * anything is written to the audit, whose counter every entry locks.
 */
export const lockGroups = (tx: Transaction, orgId: string): Promise<unknown> =>
  tx.$executeRaw`select pg_advisory_xact_lock(hashtextextended(${`groups:${orgId}`}, 0))`;

/** Keeps the groups of the organisation from being removed until the transaction ends. */
export const holdGroups = (tx: Transaction, orgId: string): Promise<unknown> =>
  tx.$executeRaw`select pg_advisory_xact_lock_shared(hashtextextended(${`groups:${orgId}`}, 0))`;

const fields = { id: true, name: true, source: true, externalId: true, createdAt: true } as const;

const matching = (orgId: string, q: string | undefined): Prisma.Sql =>
  q === undefined
    ? Prisma.sql`org_id = ${orgId}::uuid`
    : Prisma.sql`org_id = ${orgId}::uuid and strpos(name_key || ' ' || lower(coalesce(external_id, '')), ${toNameKey(q)}) > 0`;

export async function countGroups(db: Client | Transaction, orgId: string, q?: string): Promise<number> {
  const [{ total }] = await db.$queryRaw<[{ total: number }]>`
    select count(*)::int as total from groups where ${matching(orgId, q)}`;
  return total;
}

/** Finds groups newest first. */
export async function findGroups(
  db: Client,
  orgId: string,
  { isFromEnd, offset, count, beforeId }: ListWindow,
  q: string | undefined,
): Promise<GroupRow[]> {
  const rows = await db.$queryRaw<GroupRow[]>`
    select id::text, name, source, external_id as "externalId", created_at as "createdAt" from groups
    where ${matching(orgId, q)} and ${beforeId === undefined ? Prisma.sql`true` : Prisma.sql`id < ${beforeId}::uuid`}
    order by id ${isFromEnd ? Prisma.sql`asc` : Prisma.sql`desc`} limit ${count} offset ${offset}`;
  return isFromEnd ? rows.toReversed() : rows;
}

export const findGroup = (db: Client | Transaction, orgId: string, id: string): Promise<GroupRow | null> =>
  db.group.findFirst({ where: { id, orgId }, select: fields }) as Promise<GroupRow | null>;

export const findGroupsNamed = (
  db: Client | Transaction,
  orgId: string,
  source: GroupSource,
  names: readonly string[],
): Promise<GroupRow[]> =>
  db.group.findMany({
    where: { orgId, source, nameKey: { in: names.map(toNameKey) } },
    select: fields,
  }) as Promise<GroupRow[]>;

export const findGroupReferences = (
  db: Client | Transaction,
  orgId: string,
  ids: readonly string[],
): Promise<Pick<GroupRow, 'id' | 'name' | 'source'>[]> =>
  db.group.findMany({
    where: { orgId, id: { in: [...ids] } },
    select: { id: true, name: true, source: true },
  }) as Promise<Pick<GroupRow, 'id' | 'name' | 'source'>[]>;

export const insertGroups = (tx: Transaction, orgId: string, groups: readonly GroupRow[]): Promise<unknown> =>
  tx.group.createMany({ data: groups.map((group) => ({ ...group, orgId, nameKey: toNameKey(group.name) })) });

export const updateGroup = (
  tx: Transaction,
  id: string,
  { name, externalId }: Pick<GroupRow, 'name' | 'externalId'>,
): Promise<GroupRow> =>
  tx.group.update({
    where: { id },
    data: { name, nameKey: toNameKey(name), externalId },
    select: fields,
  }) as Promise<GroupRow>;

/** Deletes the group with its memberships. */
export const deleteGroup = (tx: Transaction, id: string): Promise<unknown> =>
  tx.group.delete({ where: { id }, select: { id: true } });

/** The accounts that can be in groups and were not removed. */
const accounts = Prisma.sql`
  (select id, org_id, 'member' as kind, full_name as name, email from users where removed_at is null
   union all
   select id, org_id, 'service_account', name, null from service_accounts where removed_at is null)`;

export async function countMembersOf(
  db: Client | Transaction,
  groupIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await db.$queryRaw<{ id: string; members: number }[]>`
    select group_id::text as id, count(*)::int as members from group_members
      join ${accounts} account on account.id = member_id
    where group_id = any(${[...groupIds]}::uuid[]) group by group_id`;
  return new Map(rows.map(({ id, members }) => [id, members]));
}

export interface MemberRow {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  readonly email: string | null;
  readonly addedAt: Date;
}

const membersMatching = (groupId: string, q: string | undefined): Prisma.Sql => Prisma.sql`
  from group_members join ${accounts} account on account.id = member_id
  where group_id = ${groupId}::uuid
    and (${q ?? null}::text is null or strpos(lower(concat_ws(' ', name, email)), lower(${q ?? null})) > 0)`;

export async function countMatchingMembers(
  db: Client,
  groupId: string,
  q: string | undefined,
): Promise<number> {
  const [{ total }] = await db.$queryRaw<[{ total: number }]>`
    select count(*)::int as total ${membersMatching(groupId, q)}`;
  return total;
}

/** Finds the members of a group, the newest account first. */
export async function findMembersOf(
  db: Client,
  groupId: string,
  { isFromEnd, offset, count, beforeId }: ListWindow,
  q: string | undefined,
): Promise<MemberRow[]> {
  const rows = await db.$queryRaw<MemberRow[]>`
    select member_id::text as id, kind, name, email, added_at as "addedAt" ${membersMatching(groupId, q)}
      and ${beforeId === undefined ? Prisma.sql`true` : Prisma.sql`member_id < ${beforeId}::uuid`}
    order by member_id ${isFromEnd ? Prisma.sql`asc` : Prisma.sql`desc`} limit ${count} offset ${offset}`;
  return isFromEnd ? rows.toReversed() : rows;
}

/**
 * Locks the organisation's accounts with the ids against removal and against other changes of their groups.
 *
 * @returns their ids; those of removed accounts and of other organisations are left out.
 */
export async function lockAccounts(
  tx: Transaction,
  orgId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const lock = (table: 'users' | 'service_accounts') => tx.$queryRaw<{ id: string }[]>`
    select id::text from ${Prisma.raw(table)}
    where id = any(${[...ids]}::uuid[]) and org_id = ${orgId}::uuid and removed_at is null
    order by id for no key update`;
  return new Set([...(await lock('users')), ...(await lock('service_accounts'))].map(({ id }) => id));
}

/** @returns the ids of the accounts that were not in the group before. */
export async function insertMembers(
  tx: Transaction,
  groupId: string,
  ids: readonly string[],
  at: Date,
): Promise<string[]> {
  const rows = await tx.$queryRaw<{ id: string }[]>`
    insert into group_members (group_id, member_id, added_at)
    select ${groupId}::uuid, id, ${at} from unnest(${[...ids]}::uuid[]) as added (id)
    on conflict do nothing returning member_id::text as id`;
  return rows.map(({ id }) => id);
}

/** @returns the ids of the accounts that were in the group. */
export async function deleteMembers(
  tx: Transaction,
  groupId: string,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await tx.$queryRaw<{ id: string }[]>`
    delete from group_members where group_id = ${groupId}::uuid and member_id = any(${[...ids]}::uuid[])
    returning member_id::text as id`;
  return rows.map(({ id }) => id);
}

/** Returns the name of one of the accounts that is in more than `max` groups; undefined when none is. */
export async function findOverfull(
  tx: Transaction,
  ids: readonly string[],
  max: number,
): Promise<string | undefined> {
  const [found] = await tx.$queryRaw<{ name: string }[]>`
    select account.name from group_members join ${accounts} account on account.id = member_id
    where member_id = any(${[...ids]}::uuid[]) group by member_id, account.name having count(*) > ${max} limit 1`;
  return found?.name;
}

export const countManualMemberships = (tx: Transaction, memberId: string): Promise<number> =>
  tx.groupMember.count({ where: { memberId, group: { source: 'manual' } } });

export const findProviderGroupsOf = (tx: Transaction, memberId: string): Promise<GroupRow[]> =>
  tx.group.findMany({
    where: { source: 'provider', members: { some: { memberId } } },
    select: fields,
  }) as Promise<GroupRow[]>;

/**
 * Ends the memberships that the organisation's provider has stated, of all members or one. The groups stay, with what is
 * limited to them.
 */
export const deleteProviderMemberships = (
  tx: Transaction,
  { orgId, userId }: { readonly orgId: string; readonly userId?: string },
): Promise<unknown> =>
  tx.groupMember.deleteMany({
    where: { group: { orgId, source: 'provider' }, ...(userId !== undefined && { memberId: userId }) },
  });
