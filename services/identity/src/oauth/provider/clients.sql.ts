import type pg from 'pg';

export interface ClientRow {
  readonly id: string;
  readonly kind: 'application' | 'document' | 'registered';
  readonly org_id: string | null;
  readonly name: string;
  readonly redirect_uris: string[];
  readonly grant_types: string[];
  readonly auth_method: 'none' | 'client_secret_basic' | 'private_key_jwt';
  readonly jwks: object | null;
  /** SHA-256 of each active secret. */
  readonly secret_hashes: string[];
}

const clientsById = `
  select c.id, c.kind, c.org_id, c.name, c.redirect_uris, c.grant_types, c.auth_method, c.jwks,
    array(
      select secret_hash from oauth_client_secrets s where s.client_id = c.id and s.revoked_at is null order by s.id
    ) as secret_hashes
  from oauth_clients c
  where c.id = any($1) and c.disabled_at is null and c.removed_at is null`;

/** @returns one row for each id; undefined for a client that is unknown, disabled or removed. */
export async function findClients(db: pg.Pool, ids: readonly string[]): Promise<(ClientRow | undefined)[]> {
  const { rows } = await db.query<ClientRow>({ name: 'oauth_clients', text: clientsById, values: [ids] });
  const clients = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => clients.get(id));
}

/** The stored document of a client, and its keys. */
export interface KnownDocument {
  readonly document: object | null;
  readonly jwks: object | null;
}

/** Finds the last good document of a client that somebody has connected, and its keys. */
export async function findKnownDocument(db: pg.Pool, id: string): Promise<KnownDocument | undefined> {
  const { rows } = await db.query<KnownDocument>({
    name: 'known_client_document',
    text: `select document, jwks from oauth_clients where id = $1 and kind = 'document'`,
    values: [id],
  });
  return rows[0];
}

export const saveKnownDocument = (
  db: pg.Pool,
  id: string,
  { document = null, jwks = null }: Partial<KnownDocument>,
): Promise<unknown> =>
  db.query(
    `update oauth_clients set document = coalesce($2::jsonb, document), jwks = coalesce($3::jsonb, jwks)
     where id = $1 and kind = 'document'
       and (document is distinct from coalesce($2::jsonb, document) or jwks is distinct from coalesce($3::jsonb, jwks))`,
    [id, document && JSON.stringify(document), jwks && JSON.stringify(jwks)],
  );

/** Returns whether an organisation lets its members connect clients that documents at the host describe. */
export async function isAddedHost(db: pg.Pool, host: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'is_added_client_host',
    text: 'select 1 from connection_policies where additional_hosts @> array[$1] limit 1',
    values: [host],
  });
  return rowCount === 1;
}

/** Records the use of a secret, at most once a minute. */
export const recordSecretUse = (
  db: pg.Pool,
  clientId: string,
  secretHash: string,
  at: Date,
): Promise<unknown> =>
  db.query(
    `update oauth_client_secrets set last_used_at = $3
     where client_id = $1 and secret_hash = $2 and (last_used_at is null or last_used_at < $3::timestamptz - interval '1 minute')`,
    [clientId, secretHash, at],
  );

export interface RegisteredClient {
  readonly id: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly grantTypes: readonly string[];
  readonly createdAt: Date;
}

export const insertRegisteredClient = (db: pg.Pool, client: RegisteredClient): Promise<unknown> =>
  db.query(
    `insert into oauth_clients (id, kind, name, redirect_uris, grant_types, scopes, auth_method, created_at)
     values ($1, 'registered', $2, $3, $4, '{}', 'none', $5)`,
    [client.id, client.name, client.redirectUris, client.grantTypes, client.createdAt],
  );

export interface StoredClient {
  readonly kind: string;
  readonly org_id: string | null;
  readonly name: string;
  /** Null for a client that describes itself. */
  readonly scopes: readonly string[] | null;
  /** Whether it was disabled or removed. */
  readonly is_ended: boolean;
}

export async function findStoredClient(db: pg.Pool, id: string): Promise<StoredClient | undefined> {
  const { rows } = await db.query<StoredClient>(
    `select kind, org_id, name, case when kind = 'application' then scopes end as scopes,
       disabled_at is not null or removed_at is not null as is_ended
     from oauth_clients where id = $1`,
    [id],
  );
  return rows[0];
}
