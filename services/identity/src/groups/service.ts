import type { AccountPrincipal } from '@platform/auth';
import { type Clock, type ListPage, readListPage } from '@platform/service-kit';
import { v7 as uuidv7 } from 'uuid';
import { findChanges } from '../audit/changes.js';
import { insertAuditEntries } from '../audit/record.sql.js';
import { type Caller, toActor } from '../base/caller/actor.js';
import { changeAsAdministrator } from '../members/organisation/administration.js';
import type { Prisma, Transaction } from '../prisma.js';
import {
  groupInUse,
  groupNotFound,
  managedByProvider,
  memberNotFound,
  nameTaken,
  tooManyGroups,
  tooManyMemberships,
} from './errors.js';
import { MAX_GROUPS, MAX_MEMBERSHIPS, toMembershipEntries } from './membership.js';
import {
  countGroups,
  countMatchingMembers,
  countMembersOf,
  deleteGroup,
  deleteMembers,
  findGroup,
  findGroups,
  findGroupsNamed,
  findMembersOf,
  findOverfull,
  type GroupRow,
  insertGroups,
  insertMembers,
  lockAccounts,
  lockGroups,
  toNameKey,
  updateGroup,
} from './queries.js';
import type {
  ChangeGroupBody,
  CreateGroupBody,
  Group,
  GroupMember,
  GroupQuery,
  GroupUse,
  MemberQuery,
  RemoveGroupQuery,
} from './schemas.js';

/** What is limited to groups, elsewhere in the service. */
export interface GroupUses {
  /** Finds what is limited to the group, beginning with what is limited to it alone. */
  readonly find: (db: Prisma | Transaction, orgId: string, groupId: string) => Promise<GroupUse[]>;
  /** Takes the group from everything that is limited to it. */
  readonly release: (tx: Transaction, orgId: string, groupId: string) => Promise<void>;
}

export interface GroupsContext {
  readonly prisma: Prisma;
  readonly clock: Clock;
  readonly uses: GroupUses;
}

type Reader = Pick<AccountPrincipal, 'orgId'>;

/** The audit names this much of what was closed. */
const MAX_CLOSED_LENGTH = 300;
const auditFields = ['name', 'externalId'] as const;

const toGroup = ({ createdAt, ...row }: GroupRow, memberCount: number): Group => ({
  ...row,
  memberCount,
  createdAt: createdAt.toISOString(),
});

/** Adds how many members the group has. */
const describe = async (db: Prisma | Transaction, row: GroupRow): Promise<Group> =>
  toGroup(row, (await countMembersOf(db, [row.id])).get(row.id) ?? 0);

/** @throws AppError 404. */
async function requireGroup(db: Prisma | Transaction, orgId: string, id: string): Promise<GroupRow> {
  const group = await findGroup(db, orgId, id);
  if (!group) throw groupNotFound();
  return group;
}

/** @throws AppError 404; 409 MANAGED_BY_PROVIDER. */
async function requireManual(tx: Transaction, orgId: string, id: string): Promise<GroupRow> {
  const group = await requireGroup(tx, orgId, id);
  if (group.source !== 'manual') throw managedByProvider();
  return group;
}

/** @throws AppError 409 NAME_TAKEN. */
async function assertNameIsFree(tx: Transaction, orgId: string, name: string): Promise<void> {
  if ((await findGroupsNamed(tx, orgId, 'manual', [name])).length > 0) throw nameTaken();
}

/** Lists the organisation's groups, newest first. */
export function listGroups(
  { prisma }: GroupsContext,
  { orgId }: Reader,
  query: GroupQuery,
): Promise<ListPage<Group>> {
  let members: ReadonlyMap<string, number> = new Map();
  return readListPage(query, {
    count: () => countGroups(prisma, orgId, query.q),
    async find(window) {
      const rows = await findGroups(prisma, orgId, window, query.q);
      // oxfmt-ignore
      members = await countMembersOf(prisma, rows.map(({ id }) => id));
      return rows;
    },
    toItem: (row) => toGroup(row, members.get(row.id) ?? 0),
  });
}

/** @throws AppError 404. */
export const getGroup = async ({ prisma }: GroupsContext, { orgId }: Reader, id: string): Promise<Group> =>
  describe(prisma, await requireGroup(prisma, orgId, id));

/** Lists the servers and tools that are limited to a group. @throws AppError 404. */
export async function listGroupUses(
  { prisma, uses }: GroupsContext,
  { orgId }: Reader,
  id: string,
): Promise<GroupUse[]> {
  await requireGroup(prisma, orgId, id);
  return uses.find(prisma, orgId, id);
}

/** @throws AppError 400 TOO_MANY_GROUPS; 409 NAME_TAKEN. */
export const createGroup = (
  ctx: GroupsContext,
  caller: Caller,
  { name, externalId }: CreateGroupBody,
): Promise<Group> =>
  changeAsAdministrator(ctx, caller, async ({ tx, at, record }) => {
    const { orgId } = caller;
    await lockGroups(tx, orgId);
    await assertNameIsFree(tx, orgId, name.trim());
    if ((await countGroups(tx, orgId)) >= MAX_GROUPS) throw tooManyGroups(MAX_GROUPS);
    const group: GroupRow = {
      id: uuidv7(),
      name: name.trim(),
      source: 'manual',
      externalId: externalId ?? null,
      createdAt: at,
    };
    await insertGroups(tx, orgId, [group]);
    const changes = findChanges(undefined, group, auditFields);
    await record({ action: 'group.created', subjectId: group.id, changes });
    return toGroup(group, 0);
  });

/** Changes the name or the external id of a group that administrators manage. @throws AppError 404; 409. */
export const changeGroup = (
  ctx: GroupsContext,
  caller: Caller,
  id: string,
  { name, externalId }: ChangeGroupBody,
): Promise<Group> =>
  changeAsAdministrator(ctx, caller, async ({ tx, record }) => {
    const { orgId } = caller;
    await lockGroups(tx, orgId);
    const before = await requireManual(tx, orgId, id);
    const wanted = {
      name: name?.trim() ?? before.name,
      externalId: externalId === undefined ? before.externalId : externalId,
    };
    if (toNameKey(wanted.name) !== toNameKey(before.name)) await assertNameIsFree(tx, orgId, wanted.name);
    const after = await updateGroup(tx, id, wanted);
    const changes = findChanges(before, after, auditFields);
    if (Object.keys(changes).length > 0) await record({ action: 'group.changed', subjectId: id, changes });
    return describe(tx, after);
  });

/**
 * Removes a group with its memberships; one of the provider comes back with the next sign-in that names it. What was limited to
 * this group alone is then for nobody.
 *
 * @throws AppError 404; 409 GROUP_IN_USE that names what would be closed, unless that is forced.
 */
export const removeGroup = (
  ctx: GroupsContext,
  caller: Caller,
  id: string,
  { force = false }: RemoveGroupQuery,
): Promise<void> =>
  changeAsAdministrator(ctx, caller, async ({ tx, record }) => {
    const { orgId } = caller;
    await lockGroups(tx, orgId);
    const before = await requireGroup(tx, orgId, id);
    const uses = await ctx.uses.find(tx, orgId, id);
    const closed = uses.flatMap(({ server, tool, isOnly }) => (isOnly ? [tool ?? server] : []));
    if (closed.length > 0 && !force) throw groupInUse(closed);
    await ctx.uses.release(tx, orgId, id);
    await deleteGroup(tx, id);
    const changes = findChanges(before, undefined, auditFields);
    const detail = closed.length > 0 ? { closed: closed.join(', ').slice(0, MAX_CLOSED_LENGTH) } : {};
    await record({ action: 'group.removed', subjectId: id, changes, detail });
  });

/** Lists the members of a group, the newest account first. @throws AppError 404. */
export async function listGroupMembers(
  { prisma }: GroupsContext,
  { orgId }: Reader,
  id: string,
  query: MemberQuery,
): Promise<ListPage<GroupMember>> {
  await requireGroup(prisma, orgId, id);
  return readListPage(query, {
    count: () => countMatchingMembers(prisma, id, query.q),
    find: (window) => findMembersOf(prisma, id, window, query.q),
    toItem: ({ addedAt, ...row }) => ({ ...row, addedAt: addedAt.toISOString() }),
  });
}

/**
 * Adds members and service accounts to a group: all of them, or none.
 *
 * @returns how many were not in it before.
 * @throws AppError 404 for the group or any of the ids; 409 MANAGED_BY_PROVIDER; 400 when one is in too many groups.
 */
export const addGroupMembers = (
  ctx: GroupsContext,
  caller: Caller,
  id: string,
  memberIds: readonly string[],
): Promise<number> =>
  changeAsAdministrator(ctx, caller, async ({ tx, at }) => {
    const { orgId } = caller;
    const group = await requireManual(tx, orgId, id);
    const ids = [...new Set(memberIds.map((memberId) => memberId.toLowerCase()))];
    if ((await lockAccounts(tx, orgId, ids)).size < ids.length) throw memberNotFound();
    const added = await insertMembers(tx, id, ids, at);
    const overfull = await findOverfull(tx, added, MAX_MEMBERSHIPS);
    if (overfull !== undefined) throw tooManyMemberships(MAX_MEMBERSHIPS, overfull);
    const act = { orgId, actor: toActor(caller), at };
    await insertAuditEntries(tx, toMembershipEntries('group.member_added', group, added, act));
    return added.length;
  });

/**
 * Removes members from a group. Ids that are not in it are ignored.
 *
 * @returns how many were in it.
 * @throws AppError 404 for the group; 409 MANAGED_BY_PROVIDER.
 */
export const removeGroupMembers = (
  ctx: GroupsContext,
  caller: Caller,
  id: string,
  memberIds: readonly string[],
): Promise<number> =>
  changeAsAdministrator(ctx, caller, async ({ tx, at }) => {
    const { orgId } = caller;
    const group = await requireManual(tx, orgId, id);
    const removed = await deleteMembers(tx, id, memberIds);
    const act = { orgId, actor: toActor(caller), at };
    await insertAuditEntries(tx, toMembershipEntries('group.member_removed', group, removed, act));
    return removed.length;
  });
