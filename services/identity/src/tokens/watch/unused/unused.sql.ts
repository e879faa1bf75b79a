import type pg from 'pg';
import { isRevocable, lastUse, unusedSince, warnedBefore, warningBound } from '../../unused.js';

/*
 * Looks at tokens whose use is not known since the bound of their organisation's policy. Tokens that were used later are
 * due again when they could be unused since then, so each token is looked at once in that time. The others are noted in
 * `unused_tokens`. Organisations without the policy, or whose policy was tightened after the bound, cost nothing.
 */
const candidates = (condition: string) => `
  (select token.id from personal_access_tokens token
    where token.org_id = policy.org_id and token.status = 'active' and token.successor_id is null and ${condition}
    order by token.use_checked_until limit $2)`;
export const checkUseStatement = `
  with due as materialized (
    select candidate.id
    from token_policies policy cross join lateral (
      ${candidates('token.use_checked_until is null')} union all
      ${candidates(`token.use_checked_until <= ${warningBound('$1')}`)}
    ) candidate
    where policy.revoke_unused_days is not null
      and (policy.unused_from is null or policy.unused_from <= ${warningBound('$1')})
    limit $2
  ), locked as materialized (
    select id, org_id, owner_id, created_at from personal_access_tokens
    where id = any(array(select id from due)) and status = 'active' for no key update skip locked
  ), looked_at as materialized (
    select token.id, coalesce(token.owner_id, token.org_id) as holder_id, token.owner_id is null as is_organisation,
      ${lastUse} as last_use, ${unusedSince} <= ${warningBound('$1')} as is_unused
    from locked token join token_policies policy on policy.org_id = token.org_id
      left join token_last_used used on used.token_id = token.id
  ), noted as (
    insert into unused_tokens (token_id, holder_id, is_organisation)
    select id, holder_id, is_organisation from looked_at where is_unused
    on conflict do nothing
  )
  update personal_access_tokens token set use_checked_until = case when is_unused then $1 else last_use end
  from looked_at where token.id = looked_at.id and token.id = any(array(select id from locked))`;

/** Looks at a batch of tokens whose use is not known. @returns how many. */
export async function checkUse(db: pg.Pool, now: Date, limit: number): Promise<number> {
  const { rowCount } = await db.query(checkUseStatement, [now, limit]);
  return rowCount ?? 0;
}

export interface WarnedToken {
  readonly id: string;
  readonly orgId: string;
  readonly name: string;
  /** Of the service account that it acts as. */
  readonly account: string | null;
  /** The policy; null when it was removed. */
  readonly days: number | null;
  readonly isRevocable: boolean;
}

const warned = `
  select token.id, token.org_id as "orgId", policy.revoke_unused_days as days,
    token.name, account.name as account,
    coalesce(${isRevocable('$1')}, false) as "isRevocable"
  from unused_tokens unused join personal_access_tokens token on token.id = unused.token_id
    left join service_accounts account on account.id = token.service_account_id
    left join token_policies policy on policy.org_id = token.org_id
    left join token_last_used used on used.token_id = token.id
  where unused.warned_at <= ${warnedBefore('$1')} and token.id <> all($3)
  order by unused.warned_at limit $2`;

/** Finds tokens that were warned about a week ago. */
export async function findWarnedTokens(
  db: pg.Pool,
  { now, except, limit }: { readonly now: Date; readonly except: readonly string[]; readonly limit: number },
): Promise<WarnedToken[]> {
  const { rows } = await db.query<WarnedToken>(warned, [now, limit, except]);
  return rows;
}

/* A token that is used again, or that the policy no longer revokes, is looked at and warned about again. */
const forget = `
  with forgotten as (
    delete from unused_tokens where token_id = any($1::uuid[])
  ), free as materialized (
    -- A token that is locked is looked at later.
    select id from personal_access_tokens where id = any($1::uuid[]) and status = 'active'
    for no key update skip locked
  )
  update personal_access_tokens token
  set use_checked_until = greatest(token.created_at, (select last_used_at from token_last_used where token_id = token.id))
  from free where token.id = free.id`;

/** Withdraws the warnings about the tokens. */
export const forgetUnused = (db: pg.Pool | pg.PoolClient, tokenIds: readonly string[]): Promise<unknown> =>
  db.query(forget, [tokenIds]);
