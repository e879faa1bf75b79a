import type { AdapterPayload } from 'oidc-provider';
import type pg from 'pg';
import type { SqlClient } from '../../base/sql-client.js';

interface GrantRow {
  readonly id: string;
  readonly user_id: string;
  readonly client_id: string;
  readonly resource: string;
  readonly scopes: string[];
  readonly created_at: Date;
  readonly expires_at: Date;
}

const grant = `
  select g.id, g.user_id, g.client_id, g.resource, g.scopes, g.created_at, g.expires_at
  from oauth_grants g join users u on u.id = g.user_id
  where g.id = $1 and g.revoked_at is null and u.removed_at is null`;

const toSeconds = (date: Date): number => Math.floor(date.getTime() / 1_000);

/** Finds a grant that has not ended, in the provider's form. */
export async function findGrantPayload(db: pg.Pool, id: string): Promise<AdapterPayload | undefined> {
  const { rows } = await db.query<GrantRow>({ name: 'oauth_grant', text: grant, values: [id] });
  const [row] = rows;
  if (!row) return undefined;
  const scope = row.scopes.join(' ');
  return {
    jti: row.id,
    kind: 'Grant',
    accountId: row.user_id,
    clientId: row.client_id,
    iat: toSeconds(row.created_at),
    exp: toSeconds(row.expires_at),
    // The scopes of a resource count as scopes of the authorization server as well.
    openid: { scope },
    resources: { [row.resource]: scope },
  };
}

/** Returns the name that a client is known by: its host, or the name that it was registered with. */
export async function findClientName(db: SqlClient, id: string): Promise<string> {
  const { rows } = await db.query<{ kind: string; name: string }>(
    'select kind, name from oauth_clients where id = $1',
    [id],
  );
  const [client] = rows;
  return client?.kind === 'document' ? new URL(id).host : (client?.name ?? id);
}

/** @returns whether the member exists and has not been removed. */
export async function isMember(db: pg.Pool, userId: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'is_member',
    text: 'select 1 from users where id = $1 and removed_at is null',
    values: [userId],
  });
  return rowCount === 1;
}
