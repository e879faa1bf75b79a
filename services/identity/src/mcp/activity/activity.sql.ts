import { firstIdAt } from '@platform/service-kit';
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
  readonly via: string;
  readonly reason: string | null;
  readonly lacks: readonly string[];
  readonly address: string | null;
}

/*
 * Stores the calls and counts them, in one statement: a batch that is written twice is counted once. The counts are changed in
 * the order of their keys, so that replicas wait for one another, and never for each other. Calls of tools alone are counted, and
 * not by names that callers make up: what was refused at a route has its method and path for a name.
 */
const insertCalls = `
  with written as (
    insert into tool_calls
      (id, created_at, org_id, user_id, credential_kind, credential_id, tool, outcome, duration_ms, request_id, client, client_id,
       via, reason, lacks, address)
    select id, to_timestamp(at / 1000.0), org_id, user_id, credential_kind, credential_id, tool, outcome, duration_ms,
      request_id, client, client_id, via, reason, lacks, address
    from json_to_recordset($1) as call (id uuid, at bigint, org_id uuid, user_id uuid, credential_kind text,
      credential_id uuid, tool text, outcome text, duration_ms integer, request_id text, client text, client_id text,
      via text, reason text, lacks text[], address text)
    on conflict do nothing
    returning *
  ), counted as (
    select org_id, user_id, credential_kind, coalesce(client_id, credential_id::text) as agent, tool,
      date_trunc('hour', created_at, 'UTC') as hour, (outcome not in ('completed', 'cancelled'))::int as failed
    from written where via = 'mcp' and reason is distinct from 'unknown_tool' and strpos(tool, ' ') = 0
  ), by_agent as (
    insert into tool_call_agents as kept (org_id, hour, user_id, agent, calls, failures)
    select org_id, hour, user_id, agent, count(*), sum(failed) from counted
    where credential_kind <> 'session' group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (org_id, hour, user_id, agent)
      do update set calls = kept.calls + excluded.calls, failures = kept.failures + excluded.failures
  )
  insert into tool_call_hours as kept (org_id, tool, hour, calls, failures)
  select org_id, coalesce(tool, ''), hour, count(*), sum(failed) from counted
  group by grouping sets ((org_id, tool, hour), (org_id, hour)) order by 1, 2, 3
  on conflict (org_id, tool, hour)
    do update set calls = kept.calls + excluded.calls, failures = kept.failures + excluded.failures`;

export const insertToolCalls = (db: pg.Pool, calls: readonly ToolCallRow[]): Promise<unknown> =>
  db.query({ name: 'insert_tool_calls', text: insertCalls, values: [JSON.stringify(calls)] });

export interface ActivityRow {
  readonly id: string;
  readonly user_id: string;
  readonly credential_kind: string;
  readonly credential_id: string;
  readonly client_id: string | null;
  readonly via: string;
  readonly tool: string;
  readonly outcome: string;
  readonly reason: string | null;
  readonly lacks: readonly string[];
  readonly duration_ms: number;
  readonly request_id: string;
  readonly address: string | null;
  readonly client: string | null;
  readonly created_at: Date;
}

/** Whose calls are meant: those with a token, through a connection, or of all agents of an account. */
export type CallsOf =
  | { readonly credentialId: string }
  | { readonly userId: string; readonly clientId: string; readonly since: Date }
  | { readonly userId: string };

export interface ActivityPage {
  /** The last id of the previous page. */
  readonly after: string | undefined;
  readonly limit: number;
}

const columns = `id, user_id, credential_kind, credential_id, client_id, via, tool, outcome, reason, lacks, duration_ms,
  request_id, address, client, created_at`;

function toCondition(of: CallsOf): {
  readonly name: string;
  readonly where: string;
  readonly values: unknown[];
} {
  if ('credentialId' in of)
    return { name: 'credential', where: 'credential_id = $3', values: [of.credentialId] };
  // The calls of one connection have no id of it: a client gets a new access token every few minutes. An earlier connection of the
  // same client ended before this one began.
  if ('clientId' in of)
    return {
      name: 'connection',
      where: 'user_id = $3 and client_id = $4 and id >= $5',
      values: [of.userId, of.clientId, firstIdAt(of.since.getTime())],
    };
  return { name: 'account', where: `user_id = $3 and credential_kind <> 'session'`, values: [of.userId] };
}

/** Finds calls and refusals, newest first. The caller has checked who may see them. */
export async function findActivity(
  db: pg.Pool,
  of: CallsOf,
  { after, limit }: ActivityPage,
): Promise<ActivityRow[]> {
  const { name, where, values } = toCondition(of);
  const { rows } = await db.query<ActivityRow>({
    name: `activity_of_${name}`,
    text: `select ${columns} from tool_calls where ${where} and ($1::uuid is null or id < $1) order by id desc limit $2`,
    values: [after ?? null, limit, ...values],
  });
  return rows;
}

/** Returns when the first call that is still recorded was made. */
export async function findFirstCall(db: pg.Pool, of: CallsOf): Promise<Date | undefined> {
  const { name, where, values } = toCondition(of);
  const { rows } = await db.query<{ created_at: Date }>({
    name: `first_call_of_${name}`,
    text: `select created_at from tool_calls where $1::uuid is null and $2::int is null and ${where} order by id limit 1`,
    values: [null, null, ...values],
  });
  return rows[0]?.created_at;
}

export interface RefusalRow {
  readonly via: string;
  readonly tool: string;
  readonly reason: string;
  readonly lacks: readonly string[];
  readonly count: number;
  readonly last_at: Date;
}

/** So many of the latest calls are searched for refusals, and so many kinds of refusals are returned. */
const MAX_SEARCHED = 1_000;
const MAX_KINDS = 20;

/** Sums up the refusals among the latest calls, the newest first. */
export async function findRefusals(db: pg.Pool, of: CallsOf): Promise<RefusalRow[]> {
  const { name, where, values } = toCondition(of);
  const { rows } = await db.query<RefusalRow>({
    name: `refusals_of_${name}`,
    text: `select via, tool, reason, lacks, count(*)::int as count, max(created_at) as last_at
           from (select via, tool, reason, lacks, created_at from tool_calls where ${where} order by id desc limit $1) latest
           where reason is not null group by via, tool, reason, lacks order by last_at desc limit $2`,
    values: [MAX_SEARCHED, MAX_KINDS, ...values],
  });
  return rows;
}

/** Returns whether there is such a token. @param ownerId - undefined matches any owner. */
export async function isTokenOf(
  db: pg.Pool,
  tokenId: string,
  orgId: string,
  ownerId: string | undefined,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'token_of_activity',
    text: `select from personal_access_tokens where id = $1 and org_id = $2 and ($3::uuid is null or owner_id = $3)`,
    values: [tokenId, orgId, ownerId ?? null],
  });
  return rowCount === 1;
}

/** Returns whether there is such a session of the member, also when it has ended and is not deleted yet. */
export async function isSessionOf(
  db: pg.Pool,
  {
    sessionId,
    orgId,
    userId,
  }: { readonly sessionId: string; readonly orgId: string; readonly userId: string },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'session_of_activity',
    text: 'select from sessions where id = $1 and org_id = $2 and user_id = $3',
    values: [sessionId, orgId, userId],
  });
  return rowCount === 1;
}
