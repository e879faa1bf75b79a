import type { SqlClient } from '../../base/sql-client.js';

/** A mounted server, with one of its tools in effect if it has any. */
export interface OfferedTool {
  readonly serverId: string;
  readonly server: string;
  readonly tool: string | null;
}

/* The condition of access is that of the tool endpoint. [MCP-31] */
const offered = `
  select s.id::text as "serverId", s.name as server, t.name as tool
  from mcp_servers s
    left join mcp_tools t on t.server_id = s.id and t.approved_hash = t.offered_hash and t.scope is distinct from 'none'
      and ($2::uuid[] is null or not t.is_limited or t.allowed_groups && $2)
  where s.org_id = $1 and ($2::uuid[] is null or not s.is_limited or s.allowed_groups && $2)
    and ($3::text[] is null or s.name = any($3))
  order by s.name, t.name`;

/**
 * Finds the mounted servers of the organisation and their tools.
 *
 * @param groups - the groups of whoever chooses; null for those of everybody.
 * @param servers - the names of the servers; undefined for all.
 */
export async function findOfferedTools(
  db: SqlClient,
  { orgId, groups }: { readonly orgId: string; readonly groups: readonly string[] | null },
  servers?: readonly string[],
): Promise<OfferedTool[]> {
  return (await db.query<OfferedTool>(offered, [orgId, groups, servers ?? null])).rows;
}

const serverNames = 'select id::text, name from mcp_servers where org_id = $1::uuid and id = any($2::uuid[])';

/** Finds the present names of servers; a server that was removed has none. */
export async function findServerNames(
  db: SqlClient,
  orgId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const { rows } = await db.query<{ id: string; name: string }>(serverNames, [orgId, ids]);
  return new Map(rows.map(({ id, name }) => [id, name]));
}
