import type pg from 'pg';
import type { Connection, ConnectionPolicy } from './policy.js';

export interface ActiveConnection extends Connection {
  readonly id: string;
  readonly name: string;
  readonly userId: string;
  readonly email: string;
  /** Whether the member or the client was removed. */
  readonly isOrphaned: boolean;
}

const givenConnections = `
  select g.id, g.client_id as "clientId", c.kind, u.role, g.created_at as "createdAt"
  from oauth_grants g join oauth_clients c on c.id = g.client_id join users u on u.id = g.user_id
  where g.org_id = $1 and g.id = any($2::uuid[])`;

/** Finds what the policy decides about of these connections. */
export async function findConnections(
  db: pg.Pool,
  orgId: string,
  ids: readonly string[],
): Promise<(Connection & { readonly id: string })[]> {
  const query = { name: 'connections_of_policy', text: givenConnections, values: [orgId, ids] };
  return (await db.query<Connection & { readonly id: string }>(query)).rows;
}

const policyOf = `
  select client_kinds as "clientKinds", hosts, additional_hosts as "additionalHosts", connectable_by as "connectableBy",
    max_lifetime_days as "maxLifetimeDays"
  from connection_policies where org_id = $1`;

/** Finds the policy of the organisation; undefined when it has none. */
export async function findStoredPolicy(db: pg.Pool, orgId: string): Promise<ConnectionPolicy | undefined> {
  const query = { name: 'connection_policy', text: policyOf, values: [orgId] };
  return (await db.query<ConnectionPolicy>(query)).rows[0];
}

const activeConnections = `
  select g.id, g.client_id as "clientId", c.kind, c.name, u.role, g.created_at as "createdAt", g.user_id as "userId", u.email,
    u.removed_at is not null or c.removed_at is not null as "isOrphaned"
  from (
    select * from oauth_grants
    where org_id = $1 and revoked_at is null and expires_at > $2 and id < $3
    order by id desc limit $4
  ) g
    join oauth_clients c on c.id = g.client_id
    join users u on u.id = g.user_id
  order by g.id desc`;

/** Finds a batch of the organisation's connections, newest first, by the index `oauth_grants_of_org`. */
export async function findActiveConnections(
  db: pg.Pool,
  batch: { readonly orgId: string; readonly now: Date; readonly before: string; readonly limit: number },
): Promise<ActiveConnection[]> {
  const { orgId, now, before, limit } = batch;
  const { rows } = await db.query<ActiveConnection>(activeConnections, [orgId, now, before, limit]);
  return rows;
}
