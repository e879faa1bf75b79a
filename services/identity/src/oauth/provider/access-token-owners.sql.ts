import type { Role } from '@platform/auth';
import { type Clock, createBatcher } from '@platform/service-kit';
import type pg from 'pg';
import {
  type Connection,
  type ConnectionPolicy,
  DEFAULT_CONNECTION_POLICY,
} from '../connection-policy/policy.js';
import { ISSUANCE_BATCH } from './issuance-batch.js';

/** The member or service account that an access token acts as. */
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
  /** The id of the grant, or that of the application. */
  readonly source_id: string;
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
  readonly additional_hosts: string[];
  readonly connectable_by: string;
  readonly max_lifetime_days: number | null;
}

const clientScopes = "case when c.kind = 'application' then c.scopes end as client_scopes";
const liveClient = 'c.disabled_at is null and c.removed_at is null';

const grantOwners = `
  select g.id as source_id, u.id, g.org_id, u.role, g.expires_at, ${clientScopes}, p.denied_scopes, g.client_id, c.kind, g.created_at,
    connections.client_kinds, connections.hosts, connections.additional_hosts, connections.connectable_by, connections.max_lifetime_days
  from oauth_grants g join oauth_clients c on c.id = g.client_id join users u on u.id = g.user_id
    left join token_policies p on p.org_id = g.org_id
    left join connection_policies connections on connections.org_id = g.org_id
  where g.id = any($1::uuid[]) and g.revoked_at is null and g.expires_at > $2 and u.removed_at is null and ${liveClient}`;

const accountOwners = `
  select c.id as source_id, a.id, a.org_id, a.role, null as expires_at, ${clientScopes}, p.denied_scopes
  from oauth_clients c join service_accounts a on a.id = c.service_account_id
    left join token_policies p on p.org_id = a.org_id
  where c.id = any($1) and a.removed_at is null and ${liveClient}`;

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
        additionalHosts: row.additional_hosts,
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

async function findAccountOwners(
  db: pg.Pool,
  clientIds: readonly string[],
): Promise<(AccessTokenOwner | undefined)[]> {
  const query = { name: 'oauth_account_owners', text: accountOwners, values: [clientIds] };
  const { rows } = await db.query<OwnerRow>(query);
  const owners = new Map(
    rows.map((row) => [row.source_id, { ...toOwner(row), isServiceAccount: true, connection: null }]),
  );
  return clientIds.map((id) => owners.get(id));
}

function toGrantOwner(row: GrantOwnerRow): AccessTokenOwner {
  const { client_id: clientId, kind, role, created_at: createdAt } = row;
  const connection = { clientId, kind, role, createdAt, policy: toConnectionPolicy(row) };
  return { ...toOwner(row), isServiceAccount: false, connection };
}

async function findGrantOwners(
  db: pg.Pool,
  ids: readonly string[],
  now: Date,
): Promise<(AccessTokenOwner | undefined)[]> {
  const query = { name: 'oauth_grant_owners', text: grantOwners, values: [ids, now] };
  const { rows } = await db.query<GrantOwnerRow>(query);
  const owners = new Map(rows.map((row) => [row.source_id, toGrantOwner(row)]));
  return ids.map((id) => owners.get(id));
}

/**
 * Creates a function that finds who a new access token acts as; it returns undefined when the grant, its member, the
 * client or its service account has ended. Requests of the same moment share a statement.
 */
export function createOwnerLookup(db: pg.Pool, clock: Clock) {
  const findAccountOwner = createBatcher({
    toKey: (id: string) => id,
    ...ISSUANCE_BATCH,
    load: (ids: readonly string[]) => findAccountOwners(db, ids),
  });
  const findGrantOwner = createBatcher({
    toKey: (id: string) => id,
    ...ISSUANCE_BATCH,
    load: (ids: readonly string[]) => findGrantOwners(db, ids, new Date(clock())),
  });
  return ({ grantId, clientId }: AccessTokenSource): Promise<AccessTokenOwner | undefined> =>
    grantId === undefined ? findAccountOwner(clientId) : findGrantOwner(grantId);
}
