import { v7 as uuidv7 } from 'uuid';
import { insertAuditEntries, type NewAuditEntry } from '../audit/record.sql.js';
import type { Actor } from '../base/caller/actor.js';
import type { Transaction } from '../prisma.js';
import { MAX_GROUPS, MAX_MEMBERSHIPS, toMembershipEntries } from './membership.js';
import {
  countGroups,
  countManualMemberships,
  deleteMembers,
  findGroupsNamed,
  findProviderGroupsOf,
  type GroupRow,
  holdGroups,
  insertGroups,
  insertMembers,
  lockGroups,
  toNameKey,
} from './queries.js';

interface SignIn {
  readonly orgId: string;
  readonly memberId: string;
  readonly actor: Actor;
  readonly at: Date;
}

/**
 * Keeps the groups of the organisation from being removed until the transaction ends; when some of the names are new, from
 * being created as well. Most sign-ins state known groups, and do not wait for one another.
 */
export async function lockProviderGroups(
  tx: Transaction,
  orgId: string,
  names: readonly string[],
): Promise<void> {
  const keys = new Set(names.map(toNameKey));
  const found = await findGroupsNamed(tx, orgId, 'provider', [...keys]);
  await (found.length < keys.size ? lockGroups(tx, orgId) : holdGroups(tx, orgId));
}

/** Creates the groups that are missing, as far as there is room for them. @returns all that exist now. */
async function findOrCreate(
  tx: Transaction,
  { orgId, actor, at }: SignIn,
  names: readonly string[],
): Promise<{ readonly groups: GroupRow[]; readonly hasRoom: boolean }> {
  const found = await findGroupsNamed(tx, orgId, 'provider', names);
  const known = new Set(found.map(({ name }) => toNameKey(name)));
  const missing = names.filter((name) => !known.has(toNameKey(name)));
  if (missing.length === 0) return { groups: found, hasRoom: true };
  const room = Math.max(0, MAX_GROUPS - (await countGroups(tx, orgId)));
  const created = missing
    .slice(0, room)
    .map((name): GroupRow => ({ id: uuidv7(), name, source: 'provider', externalId: name, createdAt: at }));
  await insertGroups(tx, orgId, created);
  await insertAuditEntries(
    tx,
    created.map(({ id, name }): NewAuditEntry => ({
      orgId,
      action: 'group.created',
      actor,
      subjectId: id,
      reason: 'provider',
      changes: { name: { from: null, to: name } },
      at,
    })),
  );
  return { groups: [...found, ...created], hasRoom: missing.length <= room };
}

/**
 * Replaces the groups that a member has from the provider by those of the claim; groups that administrators manage stay.
 * The caller holds the lock of `lockProviderGroups`, and that of the member. [GRP-4]
 *
 * @param names - of groups, each once in any case.
 * @returns why the groups could not be taken over: the member's stay as they were with `too_many_memberships`, and new ones
 *   are left out with `too_many_groups`.
 */
export async function replaceProviderGroups(
  tx: Transaction,
  signIn: SignIn,
  names: readonly string[],
): Promise<'too_many_memberships' | 'too_many_groups' | undefined> {
  const { orgId, memberId, at } = signIn;
  const manual = await countManualMemberships(tx, memberId);
  if (manual + names.length > MAX_MEMBERSHIPS) return 'too_many_memberships';
  const { groups: wanted, hasRoom } = await findOrCreate(tx, signIn, names);
  const current = await findProviderGroupsOf(tx, memberId);
  const has = new Set(current.map(({ id }) => id));
  const wants = new Set(wanted.map(({ id }) => id));
  const added = wanted.filter(({ id }) => !has.has(id));
  const removed = current.filter(({ id }) => !wants.has(id));
  for (const { id } of added) await insertMembers(tx, id, [memberId], at);
  for (const { id } of removed) await deleteMembers(tx, id, [memberId]);
  const act = { orgId, actor: signIn.actor, reason: 'provider', at };
  await insertAuditEntries(tx, [
    ...added.flatMap((group) => toMembershipEntries('group.member_added', group, [memberId], act)),
    ...removed.flatMap((group) => toMembershipEntries('group.member_removed', group, [memberId], act)),
  ]);
  return hasRoom ? undefined : 'too_many_groups';
}
