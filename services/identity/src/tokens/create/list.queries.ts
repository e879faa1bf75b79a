import type { PageWindow } from '@platform/service-kit';
import type pg from 'pg';
import { isActive } from '../revoke/queries.js';
import type { TokenOwner } from './insert.queries.js';
import type { ScopeDays } from '../../credentials/liveness/used-scopes.js';

export interface TokenRow {
  readonly id: string;
  readonly name: string;
  readonly scopes: string[];
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly last_used_at: Date | null;
  readonly parent_id: string | null;
  /** Null when the token was never used. */
  readonly scope_days: ScopeDays | null;
}

export interface OwnedTokenRow extends TokenRow {
  readonly owner_id: string;
  readonly email: string;
  readonly full_name: string;
  readonly is_owner_removed: boolean;
  readonly is_service_account: boolean;
}

const tokensOf = (ownerColumn: 'owner_id' | 'service_account_id') => `
  select t.id, t.name, t.scopes, t.created_at, t.expires_at, t.parent_id, used.last_used_at, used.scope_days
  from (
    select id from personal_access_tokens where ${ownerColumn} = $1 and ${isActive} order by id desc limit $3
  ) page
    join personal_access_tokens t using (id)
    left join token_last_used used on used.token_id = t.id
  order by t.id desc`;

const tokensOfMember = tokensOf('owner_id');
const tokensOfAccount = tokensOf('service_account_id');

/** Finds the owner's active tokens, newest first. */
export async function findTokensOf(
  db: pg.Pool,
  owner: TokenOwner,
  now: Date,
  limit: number,
): Promise<TokenRow[]> {
  const { rows } = await db.query<TokenRow>({
    name: owner.isServiceAccount ? 'tokens_of_account' : 'own_tokens',
    text: owner.isServiceAccount ? tokensOfAccount : tokensOfMember,
    values: [owner.id, now, limit],
  });
  return rows;
}

/*
 * The counter, minus the tokens that have expired since the expiry job last ran. Those are a range of the index
 * `tokens_to_expire`, about as long as the expiries of a minute.
 */
const total = `
  select counters.active_tokens - (
    select count(*) from personal_access_tokens
    where status = 'active' and expires_at <= $2 and org_id = $1
  ) as total
  from organisation_counters counters where org_id = $1`;

export async function countActiveTokens(db: pg.Pool, orgId: string, now: Date): Promise<number> {
  const { rows } = await db.query<{ total: string }>({
    name: 'count_tokens',
    text: total,
    values: [orgId, now],
  });
  return Number(rows[0]?.total ?? 0);
}

/** The owner of the token `t`, of which exactly one join finds a row. */
export const ownerFields = `
  coalesce(t.owner_id, t.service_account_id) as owner_id, coalesce(u.email, '') as email,
  coalesce(u.full_name, a.name) as full_name, coalesce(u.removed_at, a.removed_at) is not null as is_owner_removed,
  t.service_account_id is not null as is_service_account`;
export const ownerJoins = `
  left join users u on u.id = t.owner_id
  left join service_accounts a on a.id = t.service_account_id`;

/* An index-only scan of `tokens_of_org` finds the page, so that only its rows are read. */
const orgTokens = (direction: 'asc' | 'desc') => `
  select t.id, t.name, t.scopes, t.created_at, t.expires_at, t.parent_id, used.last_used_at, used.scope_days,
    ${ownerFields}
  from (
    select id from personal_access_tokens
    where org_id = $1 and ${isActive} order by id ${direction} limit $3 offset $4
  ) page
    join personal_access_tokens t using (id)
    ${ownerJoins}
    left join token_last_used used on used.token_id = t.id
  order by t.id desc`;
const orgTokensFromStart = orgTokens('desc');
const orgTokensFromEnd = orgTokens('asc');

/** Finds a page of the organisation's active tokens, newest first, including those of removed owners. */
export async function findOrgTokens(
  db: pg.Pool,
  orgId: string,
  now: Date,
  { isFromEnd, offset, count }: PageWindow,
): Promise<OwnedTokenRow[]> {
  const { rows } = await db.query<OwnedTokenRow>({
    name: isFromEnd ? 'org_tokens_from_end' : 'org_tokens_from_start',
    text: isFromEnd ? orgTokensFromEnd : orgTokensFromStart,
    values: [orgId, now, count, offset],
  });
  return rows;
}
