import type pg from 'pg';

/** A call in the form that is inserted; `at` is in milliseconds since the epoch. */
export interface ToolCallRow {
  /** A UUIDv7, by which a call that is written twice is stored once. */
  readonly id: string;
  readonly at: number;
  readonly org_id: string;
  readonly user_id: string;
  readonly credential_kind: string;
  readonly credential_id: string;
  readonly tool: string;
  readonly outcome: string;
  readonly duration_ms: number;
  readonly request_id: string;
  readonly client: string | null;
  /** The OAuth client that the call was made through. */
  readonly client_id: string | null;
}

const insertCalls = `
  insert into tool_calls
    (id, created_at, org_id, user_id, credential_kind, credential_id, tool, outcome, duration_ms, request_id, client, client_id)
  select id, to_timestamp(at / 1000.0), org_id, user_id, credential_kind, credential_id, tool, outcome, duration_ms,
    request_id, client, client_id
  from json_to_recordset($1) as call (id uuid, at bigint, org_id uuid, user_id uuid, credential_kind text,
    credential_id uuid, tool text, outcome text, duration_ms integer, request_id text, client text, client_id text)
  on conflict do nothing`;

export const insertToolCalls = (db: pg.Pool, calls: readonly ToolCallRow[]): Promise<unknown> =>
  db.query({ name: 'insert_tool_calls', text: insertCalls, values: [JSON.stringify(calls)] });

export interface ActivityRow {
  readonly id: string;
  readonly user_id: string;
  readonly tool: string;
  readonly outcome: string;
  readonly duration_ms: number;
  readonly request_id: string;
  readonly client: string | null;
  readonly created_at: Date;
}

export interface ActivityPage {
  readonly tokenId: string;
  readonly orgId: string;
  /** Undefined matches any owner. */
  readonly ownerId: string | undefined;
  /** The last id of the previous page. */
  readonly after: string | undefined;
  readonly limit: number;
}

/* Finds the token and a page of its calls in one round trip. Without the token there is no row at all. */
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

/** Finds the calls made with a token, newest first. @returns undefined when there is no such token. */
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
