import type pg from 'pg';
import type { ScopeRule } from '../servers/gate.js';
import type { ToolRow } from '../servers/tool.queries.js';

export interface ListedTool extends ToolRow {
  readonly serverName: string;
  readonly isEnabled: boolean;
  readonly rules: readonly ScopeRule[];
  readonly serverIsLimited: boolean;
  readonly serverGroups: readonly string[];
}

/** The names of a server and of its tool: where the page before has ended. */
export interface ToolPlace {
  readonly server: string;
  readonly tool: string;
}

interface ToolSearch {
  readonly q: string | undefined;
  readonly isWaiting: boolean;
  readonly after: ToolPlace | undefined;
  readonly limit: number;
}

/* An organisation has at most 50 servers of 200 tools each: 10,000 rows at most, of which those of a page are returned. */
const mountedTools = `
  select t.server_id as "serverId", t.org_id as "orgId", t.name, t.offered, t.offered_hash as "offeredHash", t.approved,
    t.approved_hash as "approvedHash", t.scope, t.is_limited as "isLimited", t.allowed_groups::text[] as "allowedGroups",
    s.name as "serverName", s.is_enabled as "isEnabled", s.rules, s.is_limited as "serverIsLimited",
    s.allowed_groups::text[] as "serverGroups"
  from mcp_servers s join mcp_tools t on t.server_id = s.id
  where s.org_id = $1
    and ($2::text is null or strpos(lower(s.name || '__' || t.name), lower($2)) > 0)
    and (not $3 or (s.is_enabled and t.offered_hash is not null and t.offered_hash is distinct from t.approved_hash
      and t.scope is distinct from 'none'))
    and ($4::text is null or (s.name, t.name) > ($4, $5::text))
  order by s.name, t.name limit $6`;

/** Finds the tools of an organisation's servers, by the names of server and tool. */
export async function findOrganisationTools(
  db: pg.Pool,
  orgId: string,
  { q, isWaiting, after, limit }: ToolSearch,
): Promise<ListedTool[]> {
  const values = [orgId, q ?? null, isWaiting, after?.server ?? null, after?.tool ?? null, limit];
  return (await db.query<ListedTool>({ name: 'organisation_tools', text: mountedTools, values })).rows;
}

const serverTools = `
  select s.name as server, t.name as tool from mcp_servers s left join mcp_tools t on t.server_id = s.id
  where s.org_id = $1 and s.id = $2`;

/** Finds the names of a server and of its tools; no row without the server. */
export async function findServerToolNames(
  db: pg.Pool,
  orgId: string,
  serverId: string,
): Promise<{ server: string; tool: string | null }[]> {
  const values = [orgId, serverId];
  const found = await db.query<{ server: string; tool: string | null }>({
    name: 'server_tool_names',
    text: serverTools,
    values,
  });
  return found.rows;
}
