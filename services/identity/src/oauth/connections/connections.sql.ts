import type { Bounds } from '@platform/auth';
import type { ListWindow } from '@platform/service-kit';
import type pg from 'pg';

export interface ConnectedAppRow {
  readonly id: string;
  readonly client_id: string;
  readonly kind: string;
  readonly name: string;
  readonly scopes: string[];
  readonly bounds: Bounds | null;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly last_used_at: Date | null;
  readonly last_address: string | null;
  readonly user_id: string;
  readonly email: string;
  readonly full_name: string;
}

const fields = `
  g.id, g.client_id, c.kind, c.name, g.scopes, g.bounds, g.created_at, g.expires_at, g.last_used_at, g.last_address,
  g.user_id, u.email, u.full_name
  from oauth_grants g join oauth_clients c on c.id = g.client_id join users u on u.id = g.user_id`;
const live = `g.revoked_at is null and g.expires_at > $2 and u.removed_at is null and c.removed_at is null`;

/** The number of connections of one member that are listed, the newest first. */
const MAX_OWN = 100;
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

export async function findOwnApps(db: pg.Pool, userId: string, now: Date): Promise<ConnectedAppRow[]> {
  const { rows } = await db.query<ConnectedAppRow>({
    name: 'own_connected_apps',
    text: `select ${fields} where g.user_id = $1 and ${live} order by g.id desc limit ${MAX_OWN}`,
    values: [userId, now],
  });
  return rows;
}

/** The highest number of connections that is counted: a connection's state depends on three tables, so none keeps a counter. */
export const MAX_COUNTED_APPS = 10_000;

/** Counts the live connections of the organisation, up to `MAX_COUNTED_APPS`. */
export async function countApps(db: pg.Pool, orgId: string, now: Date): Promise<number> {
  const { rows } = await db.query<{ total: string }>({
    name: 'count_connected_apps',
    text: `select count(*) as total from (
             select from oauth_grants g join oauth_clients c on c.id = g.client_id
               join users u on u.id = g.user_id where g.org_id = $1 and ${live} limit ${MAX_COUNTED_APPS}
           ) counted`,
    values: [orgId, now],
  });
  return Number(rows[0]?.total ?? 0);
}

export async function findApps(
  db: pg.Pool,
  orgId: string,
  now: Date,
  { isFromEnd, offset, count, beforeId }: ListWindow,
): Promise<ConnectedAppRow[]> {
  const { rows } = await db.query<ConnectedAppRow>({
    name: isFromEnd ? 'connected_apps_from_end' : 'connected_apps',
    text: `select ${fields} where g.org_id = $1 and ${live} and g.id < $5
           order by g.id ${isFromEnd ? 'asc' : 'desc'} limit $3 offset $4`,
    values: [orgId, now, count, offset, beforeId ?? LAST_ID],
  });
  return isFromEnd ? rows.toReversed() : rows;
}
