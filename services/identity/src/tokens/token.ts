import type { Bounds, UserPrincipal } from '@platform/auth';
import type pg from 'pg';
import type { DescribeBounds } from '../credentials/bounds/bounds.js';
import { readAllowList } from '../credentials/allow-lists/ranges.js';
import type { TokenContext } from './context.js';
import { tokenNotFound } from './errors.js';
import type { OwnedToken, TokenDetails, TokenState } from './schemas.js';

/** The member or the service account that a token acts as. */
export interface TokenOwner {
  readonly id: string;
  readonly isServiceAccount: boolean;
}

/** @returns the column that has the owner's id; the other one is null. */
export const getOwnerColumn = ({ isServiceAccount }: TokenOwner): 'owner_id' | 'service_account_id' =>
  isServiceAccount ? 'service_account_id' : 'owner_id';

/**
 * The condition of active tokens at `$2`. An expired token keeps the status 'active' until the expiry job marks it, so the
 * expiry is checked as well.
 */
export const isActive = `status = 'active' and (expires_at is null or expires_at > $2)`;

export interface TokenDetailsRow {
  readonly id: string;
  readonly org_id: string;
  readonly name: string;
  readonly description: string | null;
  readonly allow_list: string[];
  readonly bounds: Bounds | null;
  readonly mutes_notices: boolean;
  readonly scopes: string[];
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly parent_id: string | null;
  readonly status: TokenState;
  readonly successor_id: string | null;
  readonly revoked_at: Date | null;
  readonly revoked_reason: string | null;
  readonly last_used_at: Date | null;
  /** The address of the last use. */
  readonly address: string | null;
  readonly user_agent: string | null;
}

export interface OwnedTokenRow extends TokenDetailsRow {
  readonly owner_id: string;
  readonly email: string;
  readonly full_name: string;
  readonly is_owner_removed: boolean;
  readonly is_service_account: boolean;
}

/** The columns of a `TokenDetailsRow`, of the token `t` and its last use `used`. */
export const detailFields = `
  t.id, t.org_id, t.name, t.description, t.allow_list, t.bounds, t.mutes_notices, t.scopes, t.created_at, t.expires_at, t.parent_id,
  t.status::text, t.successor_id, t.revoked_at, t.revoked_reason,
  used.last_used_at, used.address, used.user_agent`;

const ownToken = `
  select ${detailFields} from personal_access_tokens t left join token_last_used used on used.token_id = t.id
  where t.id = $1 and $2 in (t.owner_id, t.service_account_id)`;

/** Finds a token of the owner, in any state. */
export async function findOwnToken(
  db: pg.Pool,
  tokenId: string,
  ownerId: string,
): Promise<TokenDetailsRow | undefined> {
  const { rows } = await db.query<TokenDetailsRow>({
    name: 'own_token',
    text: ownToken,
    values: [tokenId, ownerId],
  });
  return rows[0];
}

/* The tokens whose revocation would revoke the token `$1`: itself, its ancestors and their successors. */
const isInLineage = `
  with recursive lineage as (
    select id, parent_id, successor_id from personal_access_tokens where id = $1
    union
    select above.id, above.parent_id, above.successor_id
    from lineage cross join lateral unnest(array[lineage.parent_id, lineage.successor_id]) as link (id)
      join personal_access_tokens above on above.id = link.id
  ) select from lineage where id = $2`;

/** @returns whether the token is the other one or a descendant of it. */
export const isInFamily = async (
  client: Pick<pg.Pool, 'query'>,
  tokenId: string,
  ofTokenId: string,
): Promise<boolean> => (await client.query(isInLineage, [tokenId, ofTokenId])).rowCount === 1;

const managedOwner = `
  select coalesce(owner_id, service_account_id) as id, service_account_id is not null as "isServiceAccount"
  from personal_access_tokens
  where id = $1 and org_id = $2 and (owner_id = $3 or $4 and service_account_id is not null)`;

/**
 * Returns the owner of a token that the caller manages: an own one, or one of a service account of the organisation for an
 * administrator with a session.
 *
 * @throws AppError 404.
 */
export async function findManagedOwner(
  { pool }: Pick<TokenContext, 'pool'>,
  { orgId, userId, kind, role }: UserPrincipal,
  tokenId: string,
): Promise<TokenOwner> {
  const isAdministrator = kind === 'session' && role === 'admin';
  const { rows } = await pool.query<TokenOwner>(managedOwner, [tokenId, orgId, userId, isAdministrator]);
  const [owner] = rows;
  if (!owner) throw tokenNotFound();
  return owner;
}

/**
 * Returns the state at `now`. The expiry job marks a token a minute late at most; a token that was rotated is then
 * revoked rather than expired.
 */
export function toState(
  {
    status,
    expires_at: expiresAt,
    successor_id: successor,
  }: Pick<TokenDetailsRow, 'status' | 'expires_at' | 'successor_id'>,
  now: number,
): TokenState {
  if (status !== 'active' || expiresAt === null || expiresAt.getTime() > now) return status;
  return successor === null ? 'expired' : 'revoked';
}

/** Returns the details of a token as they are shown. */
export function toDetails(row: TokenDetailsRow, now: number, describeBounds: DescribeBounds): TokenDetails {
  const state = toState(row, now);
  // The expiry job hasn't revoked a rotated token yet whose grace has ended.
  const isDue = state === 'revoked' && row.status === 'active';
  return {
    id: row.id,
    name: row.name,
    scopes: row.scopes,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at?.toISOString() ?? null,
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
    parentId: row.parent_id,
    description: row.description,
    lastUse:
      row.last_used_at === null
        ? null
        : { at: row.last_used_at.toISOString(), address: row.address, userAgent: row.user_agent },
    allowList: readAllowList(row.allow_list),
    bounds: describeBounds(row.bounds),
    noticesMuted: row.mutes_notices,
    state,
    replacedBy: row.successor_id,
    revokedAt: (isDue ? row.expires_at : row.revoked_at)?.toISOString() ?? null,
    revokedReason: isDue ? 'rotated' : row.revoked_reason,
  };
}

/** Returns a token of the organisation with its owner. */
export const toOwnedToken = (
  row: OwnedTokenRow,
  now: number,
  describeBounds: DescribeBounds,
): OwnedToken => ({
  ...toDetails(row, now, describeBounds),
  userId: row.owner_id,
  ownerEmail: row.email,
  ownerFullName: row.full_name,
  ownerDeleted: row.is_owner_removed,
  ...(row.is_service_account && { isServiceAccount: true }),
});
