import type pg from 'pg';
import type { ScopeRule, ToolScope } from './gate.js';
import type { ClaimedServer } from './claim.sql.js';

/** A tool in effect, with the server that it is called on. */
export interface MountedRow extends ClaimedServer {
  readonly connectors: readonly string[];
  readonly rules: readonly ScopeRule[];
  readonly toolName: string;
  readonly definition: string;
  readonly scope: ToolScope;
  /** The groups that the server is limited to; null when it is for everybody. */
  readonly serverGroups: readonly string[] | null;
  readonly toolGroups: readonly string[] | null;
}

export interface MountedTools {
  readonly version: number;
  readonly rows: readonly MountedRow[];
}

/*
 * One statement, so that the version is that of the tools. A tool is in effect while what the server offers is what was
 * approved.
 */
const mountedTools = `
  select c.version::float8 as version, s.id, s.org_id as "orgId", s.name, s.url, s.credential, s.secret_header as "secretHeader",
    s.secret_sealed as "secretSealed", s.secret_prefix as "secretPrefix", s.lister_id as "listerId", s.claims, s.group_values as "groupValues", s.connectors, s.revision, s.max_answer_bytes as "maxAnswerBytes", s.rules, t.name as "toolName", t.approved as definition, t.scope,
    case when s.is_limited then s.allowed_groups::text[] end as "serverGroups",
    case when t.is_limited then t.allowed_groups::text[] end as "toolGroups"
  from mcp_catalogues c
    left join (mcp_servers s join mcp_tools t on t.server_id = s.id and t.approved_hash = t.offered_hash)
      on s.org_id = c.org_id and s.is_enabled
  where c.org_id = $1
  order by s.name, t.name`;

export async function findMountedTools(db: pg.Pool, orgId: string): Promise<MountedTools> {
  const { rows } = await db.query<MountedRow & { id: string | null; version: number }>({
    name: 'mounted_tools',
    text: mountedTools,
    values: [orgId],
  });
  return { version: rows[0]?.version ?? 0, rows: rows.filter(({ id }) => id !== null) };
}

export interface CatalogueCaller {
  readonly orgId: string;
  /** The id of the member or service account. */
  readonly userId: string;
}

interface CatalogueState {
  readonly version: number;
  /** The ids of the caller's groups. */
  readonly groups: readonly string[];
}

const catalogueStates = `
  select c.version::float8, array(select m.group_id::text from group_members m where m.member_id = asked.user_id)
  from unnest($1::uuid[], $2::uuid[]) with ordinality as asked (org_id, user_id, place)
    left join mcp_catalogues c on c.org_id = asked.org_id
  order by asked.place`;

/** Finds the version of each caller's tools, and the caller's groups; undefined when the organisation has never had a server. */
export async function findCatalogueStates(
  db: pg.Pool,
  callers: readonly CatalogueCaller[],
): Promise<(CatalogueState | undefined)[]> {
  const { rows } = await db.query<[version: number | null, groups: string[]]>({
    name: 'catalogue_states',
    text: catalogueStates,
    values: [callers.map(({ orgId }) => orgId), callers.map(({ userId }) => userId)],
    rowMode: 'array',
  });
  return rows.map(([version, groups]) => (version === null ? undefined : { version, groups }));
}
