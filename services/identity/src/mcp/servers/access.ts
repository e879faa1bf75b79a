import { groupNotFound } from '../../groups/errors.js';
import { findGroupReferences } from '../../groups/queries.js';
import type { GroupUse } from '../../groups/schemas.js';
import type { GroupUses } from '../../groups/service.js';
import type { GroupReference } from '../../members/members/schemas.js';
import type { Prisma, Transaction } from '../../prisma.js';
import { bumpCatalogue } from './queries.js';
import { toMountedName } from '../../base/mounted-name.js';

/*
 * Who may use a server or a tool: everybody, or the accounts in one of its groups. Both must allow a caller. Removing the
 * last group closes it, and never opens it to everybody.
 */

/** Who may use a server or a tool, as it is stored. */
interface StoredAccess {
  readonly isLimited: boolean;
  readonly allowedGroups: readonly string[];
}

/** The groups as administrators name them; null for everybody. */
type AllowedGroups = readonly string[] | null;

export type GroupsById = ReadonlyMap<string, GroupReference>;

/** Finds the groups that servers and tools are limited to. */
export async function findAllowedGroups(
  db: Prisma | Transaction,
  orgId: string,
  limited: readonly StoredAccess[],
): Promise<GroupsById> {
  const ids = [...new Set(limited.flatMap(({ allowedGroups }) => allowedGroups))];
  if (ids.length === 0) return new Map();
  return new Map((await findGroupReferences(db, orgId, ids)).map((group) => [group.id, group]));
}

/** @throws AppError 404 for a group that the organisation does not have. */
export async function toStoredAccess(
  tx: Transaction,
  orgId: string,
  groups: AllowedGroups,
): Promise<{ isLimited: boolean; allowedGroups: string[] }> {
  if (groups === null) return { isLimited: false, allowedGroups: [] };
  const allowedGroups = [...new Set(groups.map((id) => id.toLowerCase()))];
  const found = await findAllowedGroups(tx, orgId, [{ isLimited: true, allowedGroups }]);
  if (found.size < allowedGroups.length) throw groupNotFound();
  return { isLimited: true, allowedGroups };
}

/** Returns the groups as administrators see them. */
export const toAllowedGroups = (
  { isLimited, allowedGroups }: StoredAccess,
  groups: GroupsById,
): GroupReference[] | null => (isLimited ? allowedGroups.flatMap((id) => groups.get(id) ?? []) : null);

/** Returns the names of the groups, for the audit; null for everybody. */
export const toAuditedGroups = (access: StoredAccess, groups: GroupsById): string | null =>
  toAllowedGroups(access, groups)
    ?.map(({ name }) => name)
    .join(', ') ?? null;

/** An administrator who limits more tools than this to one group limits their server instead. */
const MAX_USES = 1_000;

/** What is limited to a group. */
export const groupUses: GroupUses = {
  async find(db, orgId, groupId) {
    const rows = await db.$queryRaw<GroupUse[]>`
      select id::text as "serverId", name as server, null as tool, allowed_groups = array[${groupId}::uuid] as "isOnly"
      from mcp_servers where org_id = ${orgId}::uuid and is_limited and ${groupId}::uuid = any(allowed_groups)
      union all
      select s.id::text, s.name, t.name, t.allowed_groups = array[${groupId}::uuid]
      from mcp_tools t join mcp_servers s on s.id = t.server_id
      where t.org_id = ${orgId}::uuid and t.is_limited and ${groupId}::uuid = any(t.allowed_groups)
      order by "isOnly" desc, server, tool nulls first limit ${MAX_USES}`;
    return rows.map((use) => ({
      ...use,
      tool: use.tool === null ? null : toMountedName(use.server, use.tool),
    }));
  },

  async release(tx, orgId, groupId) {
    await tx.$executeRaw`
      update mcp_servers set allowed_groups = array_remove(allowed_groups, ${groupId}::uuid)
      where org_id = ${orgId}::uuid and ${groupId}::uuid = any(allowed_groups)`;
    await tx.$executeRaw`
      update mcp_tools set allowed_groups = array_remove(allowed_groups, ${groupId}::uuid)
      where org_id = ${orgId}::uuid and ${groupId}::uuid = any(allowed_groups)`;
    await bumpCatalogue(tx, orgId);
  },
};
