import type { Prisma as Client, Transaction } from '../../prisma.js';
import type { ScopeRule } from './gate.js';

export interface ServerRow {
  readonly id: string;
  readonly orgId: string;
  readonly name: string;
  readonly url: string;
  readonly credential: string;
  readonly secretHeader: string | null;
  readonly secretSealed: string | null;
  readonly secretPrefix: string | null;
  readonly credentialHint: string | null;
  readonly credentialLink: string | null;
  /** The administrator with whose own credential the tools are listed. */
  readonly listerId: string | null;
  /** Of `oauth`: the client id that an administrator has given, and the scopes to ask for. */
  readonly clientId: string | null;
  readonly clientScope: string | null;
  readonly claims: readonly string[];
  readonly groupValues: string | null;
  /** The connectors that its answers come from. */
  readonly connectors: readonly string[];
  readonly rules: unknown;
  readonly isEnabled: boolean;
  readonly revision: number;
  readonly createdAt: Date;
  readonly nextRefreshAt: Date;
  readonly refreshedAt: Date | null;
  readonly refreshFault: string | null;
  readonly protocolVersion: string | null;
  /** The tools of its last list that can't be used, as JSON. */
  readonly leftOut: string;
  /** Refreshes that began and never ended, because their replica died. */
  readonly unfinishedRefreshes: number;
  readonly maxAnswerBytes: number;
  /** Whether only accounts in `allowedGroups` may use it. */
  readonly isLimited: boolean;
  readonly allowedGroups: readonly string[];
}

export const getRules = (row: Pick<ServerRow, 'rules'>): readonly ScopeRule[] => row.rules as ScopeRule[];

export const findServer = (db: Client | Transaction, orgId: string, id: string): Promise<ServerRow | null> =>
  db.mcpServer.findFirst({ where: { id, orgId } });

/** Locks the server's row, so that its tools are changed by one transaction at a time. */
export const lockServer = (tx: Transaction, id: string): Promise<unknown> =>
  tx.$queryRaw`select id::text from mcp_servers where id = ${id}::uuid for no key update`;

/** Finds a page of servers, newest first. @param after - the last id of the previous page. */
export const findServers = (
  db: Client,
  orgId: string,
  after: string | undefined,
  limit: number,
): Promise<ServerRow[]> =>
  db.mcpServer.findMany({
    where: { orgId, ...(after !== undefined && { id: { lt: after } }) },
    orderBy: { id: 'desc' },
    take: limit,
  });

export const countServers = (tx: Transaction, orgId: string): Promise<number> =>
  tx.mcpServer.count({ where: { orgId } });

export const hasServerNamed = async (tx: Transaction, orgId: string, name: string): Promise<boolean> =>
  (await tx.mcpServer.findUnique({ where: { orgId_name: { orgId, name } }, select: { id: true } })) !== null;

type Stored<T> = Omit<T, 'rules' | 'claims' | 'connectors' | 'allowedGroups'> & {
  readonly rules: ScopeRule[];
  readonly claims: string[];
  readonly connectors: string[];
  readonly allowedGroups: string[];
};

export type NewServer = Stored<
  Omit<
    ServerRow,
    'revision' | 'refreshedAt' | 'refreshFault' | 'protocolVersion' | 'leftOut' | 'unfinishedRefreshes'
  >
>;

const toJsonRules = (rules: readonly ScopeRule[]) => rules.map(({ pattern, scope }) => ({ pattern, scope }));

export const insertServer = (tx: Transaction, server: NewServer): Promise<ServerRow> =>
  tx.mcpServer.create({ data: { ...server, rules: toJsonRules(server.rules) } });

export const updateServer = (
  tx: Transaction,
  id: string,
  fields: Partial<Omit<NewServer, 'id' | 'orgId' | 'createdAt'>> & {
    readonly revision?: number;
    readonly refreshFault?: null;
    readonly leftOut?: string;
  },
): Promise<ServerRow> => {
  const { rules, ...rest } = fields;
  return tx.mcpServer.update({
    where: { id },
    data: { ...rest, ...(rules && { rules: toJsonRules(rules) }) },
  });
};

/** Deletes the server with its tools. */
export const deleteServer = (tx: Transaction, id: string): Promise<unknown> =>
  tx.mcpServer.delete({ where: { id }, select: { id: true } });

/** Marks that the tools in effect have changed: every replica sees it with its next request of the organisation. */
export const bumpCatalogue = (tx: Transaction, orgId: string): Promise<unknown> =>
  tx.$executeRaw`
    insert into mcp_catalogues as kept (org_id, version) values (${orgId}::uuid, 1)
    on conflict (org_id) do update set version = kept.version + 1`;

export interface ToolCounts {
  readonly offered: number;
  readonly waiting: number;
}

export async function countTools(
  db: Client | Transaction,
  serverIds: readonly string[],
): Promise<ReadonlyMap<string, ToolCounts>> {
  const rows = await db.$queryRaw<(ToolCounts & { readonly id: string })[]>`
    select server_id::text as id, count(*)::int as offered,
      (count(*) filter (where approved_hash is distinct from offered_hash and scope is distinct from 'none'))::int as waiting
    from mcp_tools where server_id = any(${serverIds}::uuid[]) and offered_hash is not null
    group by server_id`;
  return new Map(rows.map((row) => [row.id, row]));
}

export interface RefreshResult {
  readonly nextRefreshAt: Date;
  readonly refreshFault: string | null;
  readonly refreshedAt?: Date;
  readonly protocolVersion?: string | null;
  readonly leftOut?: string;
  readonly listerId?: string | null;
}

/**
 * Records the result of a refresh, unless the server was removed or is now reached in another way.
 *
 * @param only.wasReached - records it only when the refresh before succeeded.
 */
export const recordRefresh = (
  db: Client | Transaction,
  { id, revision }: Pick<ServerRow, 'id' | 'revision'>,
  result: RefreshResult,
  only: { readonly wasReached: boolean } = { wasReached: false },
): Promise<{ count: number }> =>
  db.mcpServer.updateMany({
    where: { id, revision, ...(only.wasReached && { refreshFault: null }) },
    data: { ...result, unfinishedRefreshes: 0 },
  });

/** Marks that a refresh begins, so that a replica that dies of it is not followed by the next. */
export const beginRefresh = (db: Client, id: string): Promise<unknown> =>
  db.mcpServer.updateMany({ where: { id }, data: { unfinishedRefreshes: { increment: 1 } } });
