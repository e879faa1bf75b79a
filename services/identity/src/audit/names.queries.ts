import type { Prisma as Client } from '../resources.js';

export interface AuditName {
  readonly kind: string;
  readonly name: string;
}

/**
 * Names what the ids of a page stand for (AUD-3), removed members and revoked tokens included; of a session, its member. Each table is
 * looked up by its primary key, and by the organisation. What no longer exists has no name.
 */
export async function findAuditNames(
  db: Client,
  orgId: string,
  ids: readonly string[],
): Promise<Record<string, AuditName>> {
  if (ids.length === 0) return {};
  const wanted = [...new Set(ids)];
  const rows = await db.$queryRaw<(AuditName & { id: string })[]>`
    select id::text, 'member' as kind, full_name as name from users
      where id = any(${wanted}::uuid[]) and org_id = ${orgId}::uuid
    union all select id::text, 'token', name from personal_access_tokens
      where id = any(${wanted}::uuid[]) and org_id = ${orgId}::uuid
    union all select sessions.id::text, 'session', users.full_name from sessions join users on users.id = sessions.user_id
      where sessions.id = any(${wanted}::uuid[]) and sessions.org_id = ${orgId}::uuid
    union all select id::text, 'service_account', name from service_accounts
      where id = any(${wanted}::uuid[]) and org_id = ${orgId}::uuid
    union all select id, 'application', name from oauth_clients
      where id = any(${wanted}::text[]) and org_id = ${orgId}::uuid
    union all select oauth_grants.id::text, 'connected_app', oauth_clients.name
      from oauth_grants join oauth_clients on oauth_clients.id = oauth_grants.client_id
      where oauth_grants.id = any(${wanted}::uuid[]) and oauth_grants.org_id = ${orgId}::uuid
    union all select id::text, 'mcp_server', name from mcp_servers
      where id = any(${wanted}::uuid[]) and org_id = ${orgId}::uuid
    union all select id::text, 'organisation', name from organisations
      where id = any(${wanted}::uuid[]) and id = ${orgId}::uuid`;
  return Object.fromEntries(rows.map(({ id, kind, name }) => [id, { kind, name }]));
}
