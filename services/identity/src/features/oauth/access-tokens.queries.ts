import type { Role } from '@platform/auth';
import type pg from 'pg';
import {
  type Connection,
  type ConnectionPolicy,
  DEFAULT_CONNECTION_POLICY,
} from '../connection-policy/policy.js';

/** Whoever an access token acts as. */
export interface AccessTokenOwner {
  readonly id: string;
  readonly orgId: string;
  readonly role: Role;
  readonly isServiceAccount: boolean;
  /** The scopes of the application; null for a client that describes itself, which the grant alone limits. */
  readonly clientScopes: readonly string[] | null;
  /** The scopes that the organisation's policy denies. */
  readonly deniedScopes: readonly string[];
  /** The connection, with the policy that it is subject to; null for a service account. */
  readonly connection: (Connection & { readonly policy: ConnectionPolicy }) | null;
  /** Milliseconds since the epoch; null when nothing bounds the token's lifetime. */
  readonly expiresAt: number | null;
}

interface OwnerRow {
  readonly id: string;
  readonly org_id: string;
  readonly role: Role;
  readonly client_scopes: string[] | null;
  readonly denied_scopes: string[] | null;
  readonly expires_at: Date | null;
}

interface GrantOwnerRow extends OwnerRow {
  readonly client_id: string;
  readonly kind: string;
  readonly created_at: Date;
  /** Null, as all of the policy, when the organisation has none. */
  readonly client_kinds: string[] | null;
  readonly hosts: string[];
  readonly connectable_by: string;
  readonly max_lifetime_days: number | null;
}

const clientScopes = "case when c.kind = 'application' then c.scopes end as client_scopes";
const liveClient = 'c.disabled_at is null and c.removed_at is null';

const grantOwner = `
  select u.id, g.org_id, u.role, g.expires_at, ${clientScopes}, p.denied_scopes, g.client_id, c.kind, g.created_at,
    connections.client_kinds, connections.hosts, connections.connectable_by, connections.max_lifetime_days
  from oauth_grants g join oauth_clients c on c.id = g.client_id join users u on u.id = g.user_id
    left join token_policies p on p.org_id = g.org_id
    left join connection_policies connections on connections.org_id = g.org_id
  where g.id = $1 and g.revoked_at is null and g.expires_at > $2 and u.removed_at is null and ${liveClient}`;

const accountOwner = `
  select a.id, a.org_id, a.role, null as expires_at, ${clientScopes}, p.denied_scopes
  from oauth_clients c join service_accounts a on a.id = c.service_account_id
    left join token_policies p on p.org_id = a.org_id
  where c.id = $1 and a.removed_at is null and ${liveClient}`;

/** The source of an access token: the grant of a member, or an application that acts as its service account. */
export type AccessTokenSource =
  | { readonly grantId: string; readonly clientId: string }
  | { readonly grantId?: undefined; readonly clientId: string };

const toConnectionPolicy = (row: GrantOwnerRow): ConnectionPolicy =>
  row.client_kinds === null
    ? DEFAULT_CONNECTION_POLICY
    : {
        clientKinds: row.client_kinds,
        hosts: row.hosts,
        connectableBy: row.connectable_by,
        maxLifetimeDays: row.max_lifetime_days,
      };

const toOwner = (row: OwnerRow) => ({
  id: row.id,
  orgId: row.org_id,
  role: row.role,
  clientScopes: row.client_scopes,
  deniedScopes: row.denied_scopes ?? [],
  expiresAt: row.expires_at?.getTime() ?? null,
});

async function findAccountOwner(db: pg.Pool, clientId: string): Promise<AccessTokenOwner | undefined> {
  const query = { name: 'oauth_account_owner', text: accountOwner, values: [clientId] };
  const [row] = (await db.query<OwnerRow>(query)).rows;
  return row && { ...toOwner(row), isServiceAccount: true, connection: null };
}

async function findGrantOwner(db: pg.Pool, id: string, now: Date): Promise<AccessTokenOwner | undefined> {
  const query = { name: 'oauth_grant_owner', text: grantOwner, values: [id, now] };
  const [row] = (await db.query<GrantOwnerRow>(query)).rows;
  if (!row) return undefined;
  const { client_id: clientId, kind, role, created_at: createdAt } = row;
  const connection = { clientId, kind, role, createdAt, policy: toConnectionPolicy(row) };
  return { ...toOwner(row), isServiceAccount: false, connection };
}

/** @returns undefined when the grant, its member, the client or its service account has ended. */
export const findOwner = (
  db: pg.Pool,
  { grantId, clientId }: AccessTokenSource,
  now: Date,
): Promise<AccessTokenOwner | undefined> =>
  grantId === undefined ? findAccountOwner(db, clientId) : findGrantOwner(db, grantId, now);

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
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`;

/** Needs no lock: each verification reads whether the grant, the client and the owner are still active. */
export const insertAccessToken = (db: pg.Pool, token: NewAccessToken): Promise<unknown> =>
  db.query({
    name: 'insert_oauth_access_token',
    text: insert,
    values: [
      token.id,
      token.clientId,
      token.grantId,
      token.serviceAccountId,
      token.parentId,
      token.scopes,
      token.audiences,
      token.tokenHash,
      token.createdAt,
      token.expiresAt,
    ],
  });
/** Revokes an access token of the client, and those that were exchanged for it. @returns its grant, if it has one. */
export async function revokeAccessToken(
  db: pg.Pool,
  { id, clientId, at }: { readonly id: string; readonly clientId: string; readonly at: Date },
): Promise<string | undefined> {
  const { rows } = await db.query<{ grant_id: string | null }>(
    `with token as (
       update oauth_access_tokens set revoked_at = $3 where id = $1 and client_id = $2 and revoked_at is null
       returning id, grant_id
     ), exchanged as (
       update oauth_access_tokens set revoked_at = $3 where parent_id = $1 and client_id = $2 and revoked_at is null
     )
     select grant_id from token`,
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
