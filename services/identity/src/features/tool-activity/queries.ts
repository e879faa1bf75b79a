import type pg from 'pg';

/** A row of `tool_calls`, as it is written. */
export interface ToolCallRow {
  readonly id: string;
  readonly org_id: string;
  readonly user_id: string;
  readonly credential_kind: string;
  readonly credential_id: string;
  readonly tool: string;
  readonly outcome: string;
  readonly duration_ms: number;
  readonly request_id: string;
  readonly client: string | null;
  readonly created_at: Date;
}

/* A batch whose fate was unknown is written again: its rows are there once. */
const insertCalls = `
  insert into tool_calls
    (id, org_id, user_id, credential_kind, credential_id, tool, outcome, duration_ms, request_id, client, created_at)
  select id, org_id, user_id, credential_kind, credential_id, tool, outcome, duration_ms, request_id, client, created_at
  from json_populate_recordset(null::tool_calls, $1)
  on conflict do nothing`;

export const insertToolCalls = (db: pg.Pool, calls: readonly ToolCallRow[]): Promise<unknown> =>
  db.query({ name: 'insert_tool_calls', text: insertCalls, values: [JSON.stringify(calls)] });

export type ActivityRow = Pick<
  ToolCallRow,
  'id' | 'user_id' | 'tool' | 'outcome' | 'duration_ms' | 'request_id' | 'client' | 'created_at'
>;

export interface ActivityPage {
  readonly tokenId: string;
  readonly orgId: string;
  /** Undefined: whoever owns it. */
  readonly ownerId: string | undefined;
  /** The last id of the page before. */
  readonly after: string | undefined;
  readonly limit: number;
}

/* Whether there is such a token, and a page of its calls, in one round trip: no row is no token. */
const activity = `
  select calls.*
  from personal_access_tokens token
    left join lateral (
      select id, user_id, tool, outcome, duration_ms, request_id, client, created_at
      from tool_calls
      where credential_id = token.id and ($4::uuid is null or id < $4)
      order by id desc limit $5
    ) calls on true
  where token.id = $1 and token.org_id = $2 and ($3::uuid is null or token.owner_id = $3)
  order by calls.id desc`;

/** The calls made with a token, newest first. @returns undefined when there is no such token. */
export async function findActivity(db: pg.Pool, page: ActivityPage): Promise<ActivityRow[] | undefined> {
  const { tokenId, orgId, ownerId, after, limit } = page;
  const { rows } = await db.query<ActivityRow | { id: null }>({
    name: 'token_activity',
    text: activity,
    values: [tokenId, orgId, ownerId ?? null, after ?? null, limit],
  });
  if (rows.length === 0) return undefined;
  return rows.filter((row): row is ActivityRow => row.id !== null);
}
