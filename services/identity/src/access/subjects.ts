import { type AccountPrincipal, type Bounds, type Role, scopeCatalogue } from '@platform/auth';
import type pg from 'pg';
import { findLiveCredentials, keptScopes } from '../credentials/liveness/liveness.sql.js';
import { parseGroups } from '../credentials/liveness/service.js';
import type { SubjectType } from './schemas.js';

/*
 * The subjects of decisions: credentials as their verification finds them, and accounts with the most that a credential of theirs
 * can do. A member acts with a session, which has no scopes; a service account has no session, and acts with a token that has
 * every scope that it can hold.
 */
export interface AccessSubject {
  readonly id: string;
  /** Whoever verification would find now. */
  readonly principal: AccountPrincipal;
  readonly groups: ReadonlySet<string>;
  /** The scopes that it was granted; the policy of the organisation may have taken some. */
  readonly granted: ReadonlySet<string>;
  /** Whether it works now: neither ended nor of a removed account. */
  readonly isActive: boolean;
  /** The place that the tokens of a connection are for; undefined for credentials that work everywhere. */
  readonly resource?: string;
}

/** The subjects with the ids, in any state; or active ones in the order of their ids. */
export type Selection =
  | { readonly ids: readonly string[] }
  | { readonly after: string | undefined; readonly limit: number };

interface Row {
  readonly id: string;
  readonly ownerId: string;
  readonly role: Role;
  readonly isServiceAccount: boolean;
  readonly groups: string[];
  readonly scopes: string[] | null;
  readonly keptScopes: string | null;
  readonly bounds: Bounds | null;
  readonly isActive: boolean;
  readonly tokenHash: string | null;
  readonly resource: string | null;
}

const allScopes: readonly string[] = scopeCatalogue.flatMap(({ scopes }) => scopes.map(({ name }) => name));

const groupsOf = (account: string): string =>
  `array(select m.group_id::text from group_members m where m.member_id = ${account}) as groups`;

const selects: Record<
  SubjectType,
  { readonly select: string; readonly table: string; readonly active: string }
> = {
  user: {
    select: `s.id::text, s.id::text as "ownerId", s.role, false as "isServiceAccount", ${groupsOf('s.id')},
        s.removed_at is null as "isActive" from users s`,
    table: 's',
    active: 's.removed_at is null',
  },
  service_account: {
    select: `s.id::text, s.id::text as "ownerId", s.role, true as "isServiceAccount", ${groupsOf('s.id')},
        array(select scope from unnest($6::text[]) scope
          where scope <> all(coalesce((select denied_scopes from token_policies where org_id = $1), '{}'))) as scopes,
        s.removed_at is null as "isActive" from service_accounts s`,
    table: 's',
    active: 's.removed_at is null',
  },
  // Whether a token is live, and what it is left, is what liveness says.
  token: {
    select: `s.id::text, coalesce(s.owner_id, s.service_account_id)::text as "ownerId",
        s.service_account_id is not null as "isServiceAccount", s.scopes, s.token_hash as "tokenHash"
        from personal_access_tokens s`,
    table: 's',
    active: `s.status = 'active'`,
  },
  connection: {
    select: `o.id::text, o.user_id::text as "ownerId", u.role, false as "isServiceAccount", ${groupsOf('u.id')}, o.scopes,
        ${keptScopes} as "keptScopes", o.bounds, o.resource,
        o.revoked_at is null and o.expires_at > $5 and c.disabled_at is null and c.removed_at is null and u.removed_at is null as "isActive"
        from oauth_grants o join oauth_clients c on c.id = o.client_id join users u on u.id = o.user_id
          left join token_policies p on p.org_id = o.org_id`,
    table: 'o',
    active: 'o.revoked_at is null',
  },
};

function toStatement(type: SubjectType, isSearch: boolean): string {
  const { select, table, active } = selects[type];
  return `select ${select}
    where ${table}.org_id = $1 and ${
      isSearch
        ? `${active} and $2::uuid[] is null and ($3::uuid is null or ${table}.id > $3)`
        : `${table}.id = any($2::uuid[]) and $3::uuid is null`
    } and $5::timestamptz is not null and $6::text[] is not null
    order by ${table}.id limit $4`;
}

/** Finds subjects of the organisation. */
export async function findSubjects(
  pool: pg.Pool,
  orgId: string,
  type: SubjectType,
  selection: Selection,
  now: Date,
): Promise<AccessSubject[]> {
  const isSearch = 'limit' in selection;
  const ids = isSearch ? null : selection.ids.map((id) => id.toLowerCase());
  const { rows } = await pool.query<Partial<Row> & Pick<Row, 'id' | 'ownerId' | 'isServiceAccount'>>({
    name: `access_${type}s${isSearch ? '_page' : ''}`,
    text: toStatement(type, isSearch),
    values: [
      orgId,
      ids,
      isSearch ? (selection.after ?? null) : null,
      isSearch ? selection.limit : ids?.length,
      now,
      allScopes,
    ],
  });
  if (type === 'token') return toTokens(pool, orgId, rows, now);
  return rows.map((row) => {
    const scopes = row.scopes ?? [];
    const kind = type === 'user' ? 'session' : type === 'connection' ? 'oauth' : 'pat';
    return {
      id: row.id,
      groups: new Set(row.groups),
      granted: new Set(scopes),
      isActive: row.isActive ?? false,
      ...(row.resource && { resource: row.resource }),
      principal: toPrincipal(orgId, {
        ...row,
        kind,
        role: row.role ?? 'member',
        scopes: row.keptScopes?.split(' ') ?? scopes,
        bounds: row.bounds ?? undefined,
      }),
    };
  });
}

async function toTokens(
  pool: pg.Pool,
  orgId: string,
  rows: readonly (Partial<Row> & Pick<Row, 'id' | 'ownerId' | 'isServiceAccount'>)[],
  now: Date,
): Promise<AccessSubject[]> {
  if (rows.length === 0) return [];
  // oxfmt-ignore
  const found = await findLiveCredentials(pool, { pat: rows.map(({ id }) => id) }, now);
  const live = new Map(found.map((row) => [row[0], row]));
  return rows.map(({ tokenHash, scopes = [], ...row }) => {
    const [, role, , , narrowed, , , , groups, bounds] = live.get(tokenHash ?? '') ?? [];
    return {
      id: row.id,
      groups: new Set(groups ? parseGroups(groups).map(({ id }) => id) : []),
      granted: new Set(scopes),
      isActive: role !== undefined,
      principal: toPrincipal(orgId, {
        ...row,
        kind: 'pat',
        role: role ?? 'member',
        scopes: narrowed?.split(' ') ?? scopes ?? [],
        bounds: bounds ? (JSON.parse(bounds) as Bounds) : undefined,
      }),
    };
  });
}

function toPrincipal(
  orgId: string,
  subject: {
    readonly id: string;
    readonly ownerId: string;
    readonly isServiceAccount: boolean;
    readonly kind: 'session' | 'pat' | 'oauth';
    readonly role: Role;
    readonly scopes: readonly string[];
    readonly bounds: Bounds | undefined;
  },
): AccountPrincipal {
  const { id, ownerId, kind, role, scopes, bounds, isServiceAccount } = subject;
  const account = {
    credentialId: id,
    userId: ownerId,
    orgId,
    email: '',
    fullName: '',
    role,
    grantedScopes: new Set(scopes),
    bounds,
    expiresAt: null,
    token: '',
  };
  return isServiceAccount && kind !== 'session'
    ? { ...account, kind, isServiceAccount: true }
    : { ...account, kind };
}
