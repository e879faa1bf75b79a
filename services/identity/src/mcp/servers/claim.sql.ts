import type pg from 'pg';
import type { ServerRow } from './queries.js';

/*
 * Claims servers whose refresh is due by moving their time on: no other replica claims them, and a replica that dies
 * loses no more than this refresh. A server whose list is too large is left to an administrator. Servers whose last refresh
 * never ended come after all others, one at a time and with a back-off: they may have killed the replica.
 */
const claimDue = `
  with due as (
    select id, unfinished_refreshes as unfinished, next_refresh_at from mcp_servers
    where is_enabled and next_refresh_at <= $1 and refresh_fault is distinct from 'too_large'
    order by unfinished_refreshes, next_refresh_at limit $3 for update skip locked
  ), claimed as (
    select id from due where unfinished = 0
    union all
    (select id from due where not exists (select from due where unfinished = 0) order by unfinished, next_refresh_at limit 1)
  )
  update mcp_servers set unfinished_refreshes = least(unfinished_refreshes, 99) + 1,
    next_refresh_at = $1::timestamptz + $2 * power(2, least(unfinished_refreshes, 8)) * interval '1 millisecond'
  where id in (select id from claimed)
  returning id, org_id as "orgId", name, url, credential, secret_header as "secretHeader",
    secret_sealed as "secretSealed", secret_prefix as "secretPrefix", lister_id as "listerId", claims, group_values as "groupValues", revision, max_answer_bytes as "maxAnswerBytes"`;

export type ClaimedServer = Pick<
  ServerRow,
  | 'id'
  | 'orgId'
  | 'name'
  | 'url'
  | 'credential'
  | 'secretHeader'
  | 'secretSealed'
  | 'secretPrefix'
  | 'listerId'
  | 'claims'
  | 'groupValues'
  | 'revision'
  | 'maxAnswerBytes'
>;

export async function claimDueServers(
  db: pg.Pool,
  { now, refreshMs, limit }: { readonly now: Date; readonly refreshMs: number; readonly limit: number },
): Promise<ClaimedServer[]> {
  const { rows } = await db.query<ClaimedServer>({
    name: 'claim_mcp_servers',
    text: claimDue,
    values: [now, refreshMs, limit],
  });
  return rows;
}

/** Returns a server that was claimed, and not asked. */
export const releaseServer = (db: pg.Pool, id: string, nextRefreshAt: Date): Promise<unknown> =>
  db.query({
    name: 'release_mcp_server',
    text: `update mcp_servers set next_refresh_at = $2, unfinished_refreshes = greatest(unfinished_refreshes, 1) - 1
      where id = $1`,
    values: [id, nextRefreshAt],
  });
