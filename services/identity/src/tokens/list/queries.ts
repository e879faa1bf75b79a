import type pg from 'pg';
import { type OwnedTokenRow, ownerFields, ownerJoins } from '../create/list.queries.js';
import type { TokenDetailsRow } from '../edit/queries.js';
import type { TokenState } from '../edit/state.js';

export type FoundTokenRow = TokenDetailsRow & OwnedTokenRow;

export interface TokenSearch {
  readonly orgId: string;
  /** Undefined for those of all owners. */
  readonly ownerId: string | undefined;
  readonly state: TokenState;
  readonly text: string | undefined;
  readonly scope: string | undefined;
  readonly unusedSince: Date | undefined;
  readonly expiresBefore: Date | undefined;
  /** The id after which the page begins. */
  readonly after: string | undefined;
  readonly limit: number;
  readonly now: Date;
  /** Tokens that ended earlier are left out. */
  readonly endedAfter: Date;
}

/** The number of tokens that one search reads at most, so that its cost doesn't grow with the list. */
const MAX_SEARCHED = 2_000;
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The part of the tokens that has an index. */
type Part = 'org_id = $1 and $2::uuid is null' | 'owner_id = $2' | 'service_account_id = $2';

/*
 * The newest tokens come from an index in the order of their ids: `tokens_of_owner`, `tokens_of_service_account` and
 * `tokens_of_org` for active ones, and the same with `ended_` for the history. Owner and cursor are bounds of these
 * indexes; state chooses between them. The organisation of an owner and the other filters are applied to at most
 * MAX_SEARCHED tokens, and the cursor leads on from there.
 */
const newest = (part: Part, isActive: boolean) => `
    (select id from personal_access_tokens
    where ${part} and id < $3
      and ${isActive ? `status = 'active' and (expires_at is null or expires_at > $4)` : `status <> 'active' and $4::timestamptz is not null`}
    order by id desc limit ${MAX_SEARCHED})`;

/* An id is that of a member or of a service account, so one of the two parts is empty. */
const newestOf = (owners: 'one' | 'all', isActive: boolean) =>
  owners === 'all'
    ? newest('org_id = $1 and $2::uuid is null', isActive)
    : `${newest('owner_id = $2', isActive)} union all ${newest('service_account_id = $2', isActive)}`;

const search = (owners: 'one' | 'all', isActive: boolean) => `
  with searched as materialized (${newestOf(owners, isActive)}
  ), found as (
    select t.id, t.org_id, t.name, t.description, t.allow_list, t.mutes_notices, t.scopes, t.created_at, t.expires_at, t.parent_id,
      t.status::text, t.successor_id, t.revoked_at, t.revoked_reason,
      ${ownerFields},
      used.last_used_at, used.address, used.user_agent, used.scope_days
    -- The offset keeps the planner from reading the whole table instead of these tokens.
    from searched cross join lateral (select * from personal_access_tokens where id = searched.id offset 0) t
      ${ownerJoins}
      left join token_last_used used on used.token_id = t.id
    where t.org_id = $1 and t.status::text = $5
      and ($6::text is null or strpos(lower(concat_ws(' ', t.name, t.description)), lower($6)) > 0)
      and ($7::text is null or $7 = any(t.scopes))
      and ($8::timestamptz is null or greatest(t.created_at, used.last_used_at) < $8)
      and ($9::timestamptz is null or t.expires_at < $9)
      and (t.status = 'active' or coalesce(t.revoked_at, t.expires_at) > $10)
    order by t.id desc limit $11
  )
  select (select count(*)::int from searched) as searched,
    (select id from searched order by id limit 1) as oldest_id, found.*
  from (select) one left join found on true
  order by found.id desc`;

const searches = {
  one: { active: search('one', true), ended: search('one', false) },
  all: { active: search('all', true), ended: search('all', false) },
};

export interface FoundTokens {
  readonly rows: FoundTokenRow[];
  /** The place where the next search begins; null when there is no more. */
  readonly nextCursor: string | null;
}

export async function searchTokens(db: pg.Pool, query: TokenSearch): Promise<FoundTokens> {
  const { orgId, ownerId, state, limit, after = LAST_ID } = query;
  const [owners, states] = [
    ownerId === undefined ? 'all' : 'one',
    state === 'active' ? 'active' : 'ended',
  ] as const;
  const { rows: found } = await db.query<FoundTokenRow & { searched: number; oldest_id: string | null }>({
    name: `search_${states}_tokens_of_${owners}`,
    text: searches[owners][states],
    values: [
      orgId,
      ownerId ?? null,
      after,
      query.now,
      state,
      query.text ?? null,
      query.scope ?? null,
      query.unusedSince ?? null,
      query.expiresBefore ?? null,
      query.endedAfter,
      limit + 1,
    ],
  });
  const matching = found.filter(({ id }: { id: string | null }) => id !== null);
  const rows = matching.slice(0, limit);
  if (matching.length > limit) return { rows, nextCursor: rows.at(-1)?.id ?? null };
  const [{ searched, oldest_id: oldestId } = { searched: 0, oldest_id: null }] = found;
  return { rows, nextCursor: searched === MAX_SEARCHED ? oldestId : null };
}
