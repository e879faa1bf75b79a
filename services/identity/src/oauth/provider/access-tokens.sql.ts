import type pg from 'pg';
import type { AccessTokenSource } from './access-token-owners.sql.js';

export interface NewAccessToken {
  readonly id: string;
  readonly clientId: string;
  readonly grantId: string | null;
  readonly serviceAccountId: string | null;
  readonly parentId: string | null;
  readonly scopes: readonly string[];
  readonly audiences: readonly string[];
  readonly tokenHash: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

const insert = `
  insert into oauth_access_tokens (id, client_id, grant_id, service_account_id, parent_id, scopes, audiences, token_hash,
    created_at, expires_at)
  select id, client_id, grant_id, service_account_id, parent_id, string_to_array(scopes, ' '),
    string_to_array(audiences, ' '), token_hash, created_at, expires_at
  from unnest($1::uuid[], $2::text[], $3::uuid[], $4::uuid[], $5::uuid[], $6::text[], $7::text[], $8::text[],
      $9::timestamptz[], $10::timestamptz[])
    as token (id, client_id, grant_id, service_account_id, parent_id, scopes, audiences, token_hash, created_at, expires_at)`;

/**
 * Inserts access tokens. Needs no lock: each verification reads whether the grant, the client and the owner are still
 * active.
 */
export const insertAccessTokens = (db: pg.Pool, tokens: readonly NewAccessToken[]): Promise<unknown> =>
  db.query({
    name: 'insert_oauth_access_tokens',
    text: insert,
    values: [
      tokens.map(({ id }) => id),
      tokens.map(({ clientId }) => clientId),
      tokens.map(({ grantId }) => grantId),
      tokens.map(({ serviceAccountId }) => serviceAccountId),
      tokens.map(({ parentId }) => parentId),
      tokens.map(({ scopes }) => scopes.join(' ')),
      tokens.map(({ audiences }) => audiences.join(' ')),
      tokens.map(({ tokenHash }) => tokenHash),
      tokens.map(({ createdAt }) => createdAt),
      tokens.map(({ expiresAt }) => expiresAt),
    ],
  });

/**
 * Revokes an access token of the client, and the tokens that were exchanged for it.
 *
 * @returns its grant, if it has one, also when the token was revoked before: the end of the grant may have failed then.
 */
export async function revokeAccessToken(
  db: pg.Pool,
  { id, clientId, at }: { readonly id: string; readonly clientId: string; readonly at: Date },
): Promise<string | undefined> {
  const { rows } = await db.query<{ grant_id: string | null }>(
    `with token as (
       update oauth_access_tokens set revoked_at = $3 where id = $1 and client_id = $2 and revoked_at is null
     ), exchanged as (
       update oauth_access_tokens set revoked_at = $3 where parent_id = $1 and client_id = $2 and revoked_at is null
     )
     select grant_id from oauth_access_tokens where id = $1 and client_id = $2`,
    [id, clientId, at],
  );
  return rows[0]?.grant_id ?? undefined;
}

/** Finds what an active access token was issued from, to exchange it. */
export async function findAccessTokenSource(db: pg.Pool, id: string): Promise<AccessTokenSource | undefined> {
  const { rows } = await db.query<{ grant_id: string | null; client_id: string }>({
    name: 'oauth_access_token_source',
    text: 'select grant_id, client_id from oauth_access_tokens where id = $1 and revoked_at is null',
    values: [id],
  });
  const [row] = rows;
  if (!row) return undefined;
  return row.grant_id === null
    ? { clientId: row.client_id }
    : { clientId: row.client_id, grantId: row.grant_id };
}

/** Records the address from which a client has obtained a token. */
export const recordGrantAddress = (db: pg.Pool, grantId: string, address: string): Promise<unknown> =>
  db.query({
    name: 'record_oauth_grant_address',
    text: 'update oauth_grants set last_address = $2 where id = $1 and last_address is distinct from $2',
    values: [grantId, address],
  });
