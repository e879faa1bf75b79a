import type { Bounds, Role } from '@platform/auth';
import type pg from 'pg';
import type { TokenState } from '../../tokens/schemas.js';
import type { AgentKind } from './schemas.js';

export interface RelatedTokenRow {
  readonly id: string;
  readonly name: string;
  readonly status: TokenState;
  readonly expires_at: Date | null;
  readonly successor_id: string | null;
}

/** A token, a connection or a service account, with the account that it acts as. */
export interface AgentRow {
  readonly id: string;
  readonly name: string;
  readonly owner_id: string;
  readonly is_service_account: boolean;
  readonly owner_name: string;
  readonly email: string | null;
  readonly role: Role;
  readonly is_owner_removed: boolean;
  readonly client_id: string | null;
  readonly client_kind: string | null;
  readonly scopes: string[];
  readonly bounds: Bounds | null;
  readonly allow_list: string[];
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
  readonly status: TokenState | null;
  readonly successor_id: string | null;
  readonly parent_id: string | null;
  readonly last_used_at: Date | null;
  readonly address: string | null;
  readonly user_agent: string | null;
}

const member = `u.id as owner_id, false as is_service_account, u.full_name as owner_name, u.email, u.role,
  u.removed_at is not null as is_owner_removed`;

/** The statement for each kind, by the id `$1` and the organisation `$2`; of the account `$3` unless that is null. */
const statements: Readonly<Record<AgentKind, string>> = {
  token: `
    select t.id, t.name, coalesce(u.id, a.id) as owner_id, a.id is not null as is_service_account,
      coalesce(u.full_name, a.name) as owner_name, u.email, coalesce(u.role, a.role) as role,
      coalesce(u.removed_at, a.removed_at) is not null as is_owner_removed, null as client_id, null as client_kind,
      t.scopes, t.bounds, t.allow_list, t.created_at, t.expires_at, t.revoked_at, t.status::text, t.successor_id, t.parent_id,
      used.last_used_at, used.address, used.user_agent
    from personal_access_tokens t
      left join users u on u.id = t.owner_id
      left join service_accounts a on a.id = t.service_account_id
      left join token_last_used used on used.token_id = t.id
    where t.id = $1 and t.org_id = $2 and ($3::uuid is null or t.owner_id = $3)`,
  connection: `
    select g.id, c.name, ${member}, c.id as client_id, c.kind as client_kind, g.scopes, g.bounds, '{}'::text[] as allow_list,
      g.created_at, g.expires_at, g.revoked_at, null as status, null as successor_id, null as parent_id, g.last_used_at, g.last_address as address,
      null as user_agent
    from oauth_grants g join oauth_clients c on c.id = g.client_id join users u on u.id = g.user_id
    where g.id = $1 and g.org_id = $2 and ($3::uuid is null or g.user_id = $3)`,
  service_account: `
    select a.id, a.name, a.id as owner_id, true as is_service_account, a.name as owner_name, null as email, a.role,
      a.removed_at is not null as is_owner_removed, c.id as client_id, c.kind as client_kind, '{}'::text[] as scopes,
      null as bounds, '{}'::text[] as allow_list, a.created_at, null as expires_at, a.removed_at as revoked_at, null as status, null as successor_id,
      null as parent_id, a.last_used_at, null as address, null as user_agent
    from service_accounts a
      left join lateral (
        select id, kind from oauth_clients where service_account_id = a.id and removed_at is null limit 1
      ) c on true
    where a.id = $1 and a.org_id = $2 and $3::uuid is null`,
};

/** Finds an agent, in any state. @param ownerId - whom it has to act for; null for anybody. */
export async function findAgent(
  db: pg.Pool,
  { kind, id }: { readonly kind: AgentKind; readonly id: string },
  orgId: string,
  ownerId: string | null,
): Promise<AgentRow | undefined> {
  const { rows } = await db.query<AgentRow>({
    name: `agent_${kind}`,
    text: statements[kind],
    values: [id, orgId, ownerId],
  });
  return rows[0];
}

const related = 'id, name, status::text, expires_at, successor_id';
const MAX_CREATED = 20;

/** Finds the tokens that a token comes from, was replaced by, and has created; of the latter those that live. */
export async function findRelatedTokens(
  db: pg.Pool,
  orgId: string,
  { id, parent_id: parentId, successor_id: successorId }: AgentRow,
): Promise<{ readonly named: RelatedTokenRow[]; readonly created: RelatedTokenRow[] }> {
  const [named, created] = await Promise.all([
    db.query<RelatedTokenRow>({
      name: 'agent_named_tokens',
      text: `select ${related} from personal_access_tokens where id = any($1::uuid[]) and org_id = $2`,
      values: [[parentId, successorId].filter((one) => one !== null), orgId],
    }),
    db.query<RelatedTokenRow>({
      name: 'agent_created_tokens',
      text: `select ${related} from personal_access_tokens where parent_id = $1 and org_id = $2 and status = 'active'
             order by id desc limit ${MAX_CREATED}`,
      values: [id, orgId],
    }),
  ]);
  return { named: named.rows, created: created.rows };
}
