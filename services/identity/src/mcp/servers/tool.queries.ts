import type { Prisma as Client, Transaction } from '../../prisma.js';
import type { PinnedDefinition } from './definition.js';
import type { ToolScope } from './gate.js';

export interface ToolRow {
  readonly serverId: string;
  readonly orgId: string;
  readonly name: string;
  readonly offered: string | null;
  readonly offeredHash: string | null;
  readonly approved: string | null;
  readonly approvedHash: string | null;
  readonly scope: string | null;
  /** Whether only accounts in `allowedGroups` may use it. */
  readonly isLimited: boolean;
  readonly allowedGroups: readonly string[];
}

/** The most tools of a server that a page of names is read for. */
export const findTools = (
  db: Client | Transaction,
  serverId: string,
  after: string | undefined,
  limit: number,
): Promise<ToolRow[]> =>
  db.mcpTool.findMany({
    where: { serverId, ...(after !== undefined && { name: { gt: after } }) },
    orderBy: { name: 'asc' },
    take: limit,
  });

export const findToolsNamed = (
  db: Client | Transaction,
  serverId: string,
  names: readonly string[],
): Promise<ToolRow[]> => db.mcpTool.findMany({ where: { serverId, name: { in: [...names] } } });

/** Finds what a refresh compares. */
export const findToolHashes = (
  tx: Transaction,
  serverId: string,
): Promise<Pick<ToolRow, 'name' | 'offeredHash' | 'approvedHash'>[]> =>
  tx.mcpTool.findMany({ where: { serverId }, select: { name: true, offeredHash: true, approvedHash: true } });

/** Stores definitions that a server offers, in one statement. */
export const upsertOffered = (
  tx: Transaction,
  { id, orgId }: { readonly id: string; readonly orgId: string },
  definitions: readonly PinnedDefinition[],
): Promise<unknown> => tx.$executeRaw`
  insert into mcp_tools (server_id, org_id, name, offered, offered_hash)
  select ${id}::uuid, ${orgId}::uuid, name, offered, hash
  from unnest(${definitions.map(({ name }) => name)}::text[], ${definitions.map(({ json }) => json)}::text[],
    ${definitions.map(({ hash }) => hash)}::text[]) as listed (name, offered, hash)
  on conflict (server_id, name) do update set offered = excluded.offered, offered_hash = excluded.offered_hash`;

/**
 * Marks tools as no longer offered. Tools without a decision are deleted.
 *
 * @param names - all tools of the server when absent.
 */
export async function withdrawTools(
  tx: Transaction,
  serverId: string,
  names?: readonly string[],
): Promise<void> {
  const where = { serverId, ...(names && { name: { in: [...names] } }) };
  await tx.mcpTool.deleteMany({ where: { ...where, approvedHash: null, scope: null, isLimited: false } });
  await tx.mcpTool.updateMany({ where, data: { offered: null, offeredHash: null } });
}

export const updateTool = (
  tx: Transaction,
  { serverId, name }: Pick<ToolRow, 'serverId' | 'name'>,
  fields: {
    readonly scope?: ToolScope;
    readonly approved?: string;
    readonly approvedHash?: string;
    readonly isLimited?: boolean;
    readonly allowedGroups?: string[];
  },
): Promise<ToolRow> => tx.mcpTool.update({ where: { serverId_name: { serverId, name } }, data: fields });
