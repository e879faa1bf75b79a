import type { UserPrincipal } from '@platform/auth';
import {
  DAY_MS,
  type Page,
  type PageQuery,
  type Pagination,
  pageWindow,
  type PageWindow,
  toPagination,
  validationError,
} from '@platform/service-kit';
import type pg from 'pg';
import { createDescribeBounds, type DescribeBounds } from '../credentials/bounds/bounds.js';
import type { TokenContext } from './context.js';
import type {
  OrgTokenQuery,
  OwnedToken,
  OwnTokenQuery,
  TokenDetails,
  TokenSort,
  TokenState,
} from './schemas.js';
import { detailFields, isActive, type OwnedTokenRow, toDetails, toOwnedToken } from './token.js';
import { readInstant } from '../base/instants.js';

/*
 * The counter, minus the tokens that have expired since the expiry job last ran. Those are a range of the index
 * `tokens_to_expire`, about as long as the expiries of a minute.
 */
const activeCount = `
  select counters.active_tokens - (
    select count(*) from personal_access_tokens
    where status = 'active' and expires_at <= $2 and org_id = $1
  ) as total
  from organisation_counters counters where org_id = $1`;

async function countActiveTokens(db: pg.Pool, orgId: string, now: Date): Promise<number> {
  const { rows } = await db.query<{ total: string }>({
    name: 'count_tokens',
    text: activeCount,
    values: [orgId, now],
  });
  return Number(rows[0]?.total ?? 0);
}

/** The owner of the token `t`, of which exactly one join finds a row. */
const ownerFields = `
  coalesce(t.owner_id, t.service_account_id) as owner_id, coalesce(u.email, '') as email,
  coalesce(u.full_name, a.name) as full_name, coalesce(u.removed_at, a.removed_at) is not null as is_owner_removed,
  t.service_account_id is not null as is_service_account`;
const ownerJoins = `
  left join users u on u.id = t.owner_id
  left join service_accounts a on a.id = t.service_account_id`;

/* An index-only scan of `tokens_of_org` finds the page, so that only its rows are read. */
const orgTokens = (direction: 'asc' | 'desc') => `
  select ${detailFields}, ${ownerFields}
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
async function findOrgTokens(
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

/** Lists a page of the organisation's active tokens, newest first. */
export async function listOrganisationTokens(
  { pool, clock }: TokenContext,
  { orgId }: UserPrincipal,
  query: PageQuery,
): Promise<Page<OwnedToken>> {
  const at = clock();
  const now = new Date(at);
  const total = await countActiveTokens(pool, orgId, now);
  const window = pageWindow(query, total);
  const rows = window ? await findOrgTokens(pool, orgId, now, window) : [];
  const describeBounds = await createDescribeBounds(pool, orgId, rows);
  const data = rows.map((row) => toOwnedToken(row, at, describeBounds));
  return { data, pagination: toPagination(query, total) };
}

interface TokenSearch {
  readonly orgId: string;
  /** Undefined for all owners. */
  readonly ownerId: string | undefined;
  readonly state: TokenState;
  readonly sort: TokenSort;
  readonly text: string | undefined;
  readonly scope: string | undefined;
  readonly unusedSince: Date | undefined;
  readonly expiresBefore: Date | undefined;
  /** The id of the token after which the page begins. */
  readonly after: string | undefined;
  /** Whether all matches are counted. */
  readonly isCounted: boolean;
  readonly limit: number;
  readonly now: Date;
  /** Tokens that ended earlier are left out. */
  readonly endedAfter: Date;
}

/** The number of tokens that one search reads at most, so that its cost doesn't grow with the list. */
const MAX_SEARCHED = 2_000;

/*
 * The parts of the tokens that have an index. The owner is looked up in the organisation, so that no cursor is the id of a
 * token of another one.
 */
const parts = {
  all: 'org_id = $1 and $2::uuid is null',
  ofMember: 'owner_id = (select id from users where id = $2 and org_id = $1)',
  ofAccount: 'service_account_id = (select id from service_accounts where id = $2 and org_id = $1)',
} as const;

interface TokenOrder {
  /** By what it sorts; all tokens that have the same are in the order of their ids. */
  readonly key: string;
  /** The order of the columns `key` and `id`, and its reverse. */
  readonly order: readonly [forwards: string, backwards: string];
  /** Whether a token comes after that of the cursor. */
  readonly isAfter: string;
}

const byKey = (key: string): TokenOrder => ({
  key,
  order: ['key, id', 'key desc, id desc'],
  isAfter: `(${key}, id) > (select ${key}, id from personal_access_tokens where id = $3 and org_id = $1)`,
});

/* Each is the order of an index: the last use is in none, since it is written at each use. */
const orders: Readonly<Record<TokenSort, TokenOrder>> = {
  newest: { key: 'id', order: ['id desc', 'id'], isAfter: 'id < $3' },
  oldest: { key: 'id', order: ['id', 'id desc'], isAfter: 'id > $3' },
  name: byKey('lower(name)'),
  expiry: byKey(`coalesce(expires_at, 'infinity')`),
};

/*
 * The tokens come from an index in the order that is asked for: `tokens_of_owner`, `tokens_of_service_account` and
 * `tokens_of_org` for active ones, with `_by_name` and `_by_expiry` for these orders, and with `ended_` for the history.
 * Owner and cursor are bounds of these indexes; state chooses between them. The other filters are applied to at most
 * MAX_SEARCHED tokens, and the cursor leads on from there.
 */
interface Reading {
  readonly owners: 'one' | 'all';
  readonly isActiveOnly: boolean;
  readonly sort: TokenSort;
  /** Whether it begins after a cursor. */
  readonly isNext: boolean;
}

function readPart(part: keyof typeof parts, { isActiveOnly, sort, isNext }: Reading): string {
  const { key, order, isAfter } = orders[sort];
  return `
    (select id, ${key} as key from personal_access_tokens
    where ${parts[part]} and ${isNext ? isAfter : '$3::uuid is null'}
      and ${isActiveOnly ? `status = 'active' and (expires_at is null or expires_at > $4)` : `status <> 'active' and $4::timestamptz is not null`}
    order by ${order[0]} limit ${MAX_SEARCHED})`;
}

/* An id is that of a member or of a service account, so one of the two parts is empty. */
const readParts = (reading: Reading): string =>
  reading.owners === 'all'
    ? readPart('all', reading)
    : `${readPart('ofMember', reading)} union all ${readPart('ofAccount', reading)}`;

/* Everything that matches is counted only on request; otherwise the page ends the reading. */
function toSearch(reading: Reading): string {
  const [forwards, backwards] = orders[reading.sort].order;
  return `
  with searched as materialized (${readParts(reading)}
  ), matching as materialized (
    select read.*
    from (select * from searched order by ${forwards}) read
      -- The offset keeps the planner from reading the whole table instead of these tokens.
      cross join lateral (select * from personal_access_tokens where id = read.id offset 0) t
      ${ownerJoins}
      left join token_last_used used on used.token_id = t.id
    where t.org_id = $1 and t.status::text = $5
      and ($6::text is null
        or strpos(lower(concat_ws(' ', t.name, t.description, u.full_name, u.email, a.name)), lower($6)) > 0)
      and ($7::text is null or $7 = any(t.scopes))
      and ($8::timestamptz is null or greatest(t.created_at, used.last_used_at) < $8)
      and ($9::timestamptz is null or t.expires_at < $9)
      and (t.status = 'active' or coalesce(t.revoked_at, t.expires_at) > $10)
    order by ${qualify('read', forwards)} limit case when $12 then ${MAX_SEARCHED} else $11 end
  ), found as (
    select ${detailFields}, ${ownerFields}, page.key as sort_key
    from (select * from matching order by ${forwards} limit $11) page
      join personal_access_tokens t on t.id = page.id
      ${ownerJoins}
      left join token_last_used used on used.token_id = t.id
  )
  select (select count(*)::int from searched) as searched, (select count(*)::int from matching) as total,
    (select id from searched order by ${backwards} limit 1) as last_id, found.*
  from (select) one left join found on true
  order by ${qualify('found', forwards).replace('found.key', 'found.sort_key')}`;
}

const qualify = (table: string, order: string): string => order.replaceAll(/\b(?:key|id)\b/g, `${table}.$&`);

interface FoundTokens {
  readonly rows: OwnedTokenRow[];
  /** Unless they are counted, only as many as were read. */
  readonly total: number;
  /** Whether there may be more matches than `total`. */
  readonly totalIsMinimum: boolean;
  /** The place where the next search begins; null when there is no more. */
  readonly nextCursor: string | null;
}

export async function searchTokens(db: pg.Pool, query: TokenSearch): Promise<FoundTokens> {
  const { orgId, ownerId, state, sort, limit, after } = query;
  const owners = ownerId === undefined ? 'all' : 'one';
  const states = state === 'active' ? 'active' : 'ended';
  const isNext = after !== undefined;
  const { rows: found } = await db.query<
    OwnedTokenRow & { searched: number; total: number; last_id: string | null }
  >({
    name: `search_${states}_tokens_of_${owners}_by_${sort}${isNext ? '_on' : ''}`,
    text: toSearch({ owners, isActiveOnly: state === 'active', sort, isNext }),
    values: [
      orgId,
      ownerId ?? null,
      after ?? null,
      query.now,
      state,
      query.text ?? null,
      query.scope ?? null,
      query.unusedSince ?? null,
      query.expiresBefore ?? null,
      query.endedAfter,
      limit + 1,
      query.isCounted,
    ],
  });
  const [{ searched, total, last_id: lastId } = { searched: 0, total: 0, last_id: null }] = found;
  const totalIsMinimum = searched >= MAX_SEARCHED;
  const matching = found.filter(({ id }: { id: string | null }) => id !== null);
  const rows = matching.slice(0, limit);
  const nextCursor = matching.length > limit ? (rows.at(-1)?.id ?? null) : totalIsMinimum ? lastId : null;
  return { rows, total, totalIsMinimum, nextCursor };
}

const DEFAULT_LIMIT = 20;

interface Found<T> {
  readonly items: T[];
  readonly nextCursor: string | null;
  /** Undefined where nobody reads it, such as after a cursor. */
  readonly pagination: Pagination | undefined;
}

const hasFilter = ({ q, scope, unusedSince, expiresBefore, state = 'active' }: OwnTokenQuery): boolean =>
  state !== 'active' || [q, scope, unusedSince, expiresBefore].some((filter) => filter !== undefined);

/** Ended tokens, and those of service accounts, have no index for it. */
const isByKey = (sort: TokenSort): boolean => sort === 'name' || sort === 'expiry';

/** Where the total of a list comes from: its matches are counted, the counter knows it, or nobody reads it. */
type TotalOf = 'matches' | 'counter' | 'none';

async function search<T>(
  ctx: TokenContext,
  from: { readonly orgId: string; readonly ownerId: string | undefined; readonly totalOf: TotalOf },
  query: OwnTokenQuery,
  toItem: (row: OwnedTokenRow, now: number, describeBounds: DescribeBounds) => T,
): Promise<Found<T>> {
  const { orgId, ownerId } = from;
  const now = ctx.clock();
  const { limit = DEFAULT_LIMIT, cursor, state = 'active', sort = 'newest' } = query;
  if (state !== 'active' && isByKey(sort))
    throw validationError([{ field: 'sort', message: 'is only supported for active tokens' }]);
  const totalOf = cursor === undefined ? from.totalOf : 'none';
  const [{ rows, nextCursor, total, totalIsMinimum }, active] = await Promise.all([
    searchTokens(ctx.pool, {
      orgId,
      ownerId,
      state,
      sort,
      text: query.q,
      scope: query.scope,
      unusedSince: readInstant('unusedSince', query.unusedSince),
      expiresBefore: readInstant('expiresBefore', query.expiresBefore),
      after: cursor,
      isCounted: totalOf === 'matches',
      limit,
      now: new Date(now),
      endedAfter: new Date(now - ctx.historyDays * DAY_MS),
    }),
    totalOf === 'counter' ? countActiveTokens(ctx.pool, orgId, new Date(now)) : undefined,
  ]);
  const pagination =
    active === undefined
      ? toPagination({ page: 1, limit }, total, { isMinimum: totalIsMinimum })
      : toPagination({ page: 1, limit }, active);
  const describeBounds = await createDescribeBounds(ctx.pool, orgId, rows);
  return {
    items: rows.map((row) => toItem(row, now, describeBounds)),
    nextCursor,
    pagination: totalOf === 'none' ? undefined : pagination,
  };
}

/** Finds own tokens, newest first. @throws AppError 400 for a time that isn't an instant. */
export const findOwnTokens = (
  ctx: TokenContext,
  { orgId, userId: ownerId }: UserPrincipal,
  query: OwnTokenQuery,
  totalOf: TotalOf = 'matches',
): Promise<Found<TokenDetails>> => search(ctx, { orgId, ownerId, totalOf }, query, toDetails);

/** Finds tokens of the organisation, as `findOwnTokens` does. */
export async function findOrganisationTokens(
  ctx: TokenContext,
  { orgId }: UserPrincipal,
  { owner: ownerId, page = 1, ...query }: OrgTokenQuery,
): Promise<Found<OwnedToken>> {
  if (page > 1)
    throw validationError([
      { field: 'page', message: 'cannot be combined with filters: page a search by cursor' },
    ]);
  if (ownerId !== undefined && isByKey(query.sort ?? 'newest'))
    throw validationError([{ field: 'sort', message: 'by name or expiry cannot be combined with an owner' }]);
  const totalOf = ownerId === undefined && !hasFilter(query) ? 'counter' : 'matches';
  return search(ctx, { orgId, ownerId, totalOf }, query, toOwnedToken);
}
