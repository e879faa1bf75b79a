import type { UserPrincipal } from '@platform/auth';
import type { Prisma, Transaction } from '../../prisma.js';
import type { Caller } from '../../base/caller/actor.js';
import type { Changes } from '../../audit/record.sql.js';
import { changeAsAdministrator } from '../../members/organisation/administration.js';
import { findAllowedGroups, type GroupsById, toAuditedGroups, toStoredAccess } from './access.js';
import { toMountedTool, toToolDetail } from './documents.js';
import { definitionChanged, serverNotFound, toolNotFound } from './errors.js';
import { bumpCatalogue, findServer, getRules, lockServer } from './queries.js';
import type { ServerContext } from './service.js';
import type { DecideBody, MountedTool, ToolDetail, ToolPage, ToolQuery } from './tool.schemas.js';
import { findTools, findToolsNamed, type ToolRow, updateTool } from './tool.queries.js';

type Decision = DecideBody['tools'][number];

function findDecisionChanges(before: ToolRow, after: ToolRow, groups: GroupsById): Changes {
  const changes: Record<string, { from: string | null; to: string | null }> = {};
  const [from, to] = [toAuditedGroups(before, groups), toAuditedGroups(after, groups)];
  if (from !== to) changes[`${before.name} allowedGroups`] = { from, to };
  if (before.scope !== after.scope) changes[`${before.name} scope`] = { from: before.scope, to: after.scope };
  if (before.approvedHash !== after.approvedHash)
    changes[`${before.name} definition`] = { from: before.approvedHash, to: after.approvedHash };
  return changes;
}

async function applyDecision(
  tx: Transaction,
  row: ToolRow,
  { scope, approve, allowedGroups }: Decision,
): Promise<ToolRow> {
  const { orgId, offered, offeredHash } = row;
  if (approve !== undefined && (offered === null || offeredHash !== approve))
    throw definitionChanged(row.name);
  return updateTool(tx, row, {
    ...(scope !== undefined && { scope }),
    ...(allowedGroups !== undefined && (await toStoredAccess(tx, orgId, allowedGroups))),
    ...(approve !== undefined && offered !== null && { approved: offered, approvedHash: approve }),
  });
}

async function requireServer(db: Prisma | Transaction, orgId: string, id: string) {
  const row = await findServer(db, orgId, id);
  if (!row) throw serverNotFound();
  return { name: row.name, rules: getRules(row) };
}

/** Lists a server's tools by name. @throws AppError 404. */
export async function listServerTools(
  { prisma }: ServerContext,
  { orgId }: UserPrincipal,
  serverId: string,
  { limit, cursor }: ToolQuery,
): Promise<ToolPage> {
  const server = await requireServer(prisma, orgId, serverId);
  // Fetch one more than requested to learn whether there is another page.
  const rows = await findTools(prisma, serverId, cursor, limit + 1);
  const groups = await findAllowedGroups(prisma, orgId, rows);
  const data = rows.slice(0, limit).map((row) => toMountedTool(server, row, groups));
  return { data, nextCursor: rows.length > limit ? (data.at(-1)?.name ?? null) : null };
}

/** Returns a tool's definitions and how they differ. @throws AppError 404. */
export async function getServerTool(
  { prisma }: ServerContext,
  { orgId }: UserPrincipal,
  serverId: string,
  toolName: string,
): Promise<ToolDetail> {
  const server = await requireServer(prisma, orgId, serverId);
  const [row] = await findToolsNamed(prisma, serverId, [toolName]);
  if (!row) throw toolNotFound();
  return toToolDetail(server, row, await findAllowedGroups(prisma, orgId, [row]));
}

/**
 * Maps tools to scopes and groups, and approves definitions by their hash: all of them or none.
 *
 * @throws AppError 404; 409 DEFINITION_CHANGED.
 */
export async function decideOnTools(
  ctx: ServerContext,
  caller: Caller,
  serverId: string,
  { tools }: DecideBody,
): Promise<readonly MountedTool[]> {
  const { orgId } = caller;
  return changeAsAdministrator(ctx, caller, async ({ tx, record }) => {
    const server = await requireServer(tx, orgId, serverId);
    await lockServer(tx, serverId);
    // oxfmt-ignore
    const found = await findToolsNamed(tx, serverId, tools.map(({ name }) => name));
    const byName = new Map(found.map((row) => [row.name, row]));
    const afters: ToolRow[] = [];
    for (const decision of tools) {
      const before = byName.get(decision.name);
      if (!before) throw toolNotFound();
      const after = await applyDecision(tx, before, decision);
      byName.set(after.name, after);
      afters.push(after);
    }
    const groups = await findAllowedGroups(tx, orgId, [...found, ...afters]);
    let changes: Changes = {};
    for (const before of found) {
      const after = byName.get(before.name);
      if (after) changes = { ...changes, ...findDecisionChanges(before, after, groups) };
    }
    await bumpCatalogue(tx, orgId);
    const detail = { server: server.name };
    await record({ action: 'mcp_server.tools_changed', subjectId: serverId, detail, changes });
    return [...byName.values()].map((row) => toMountedTool(server, row, groups));
  });
}
