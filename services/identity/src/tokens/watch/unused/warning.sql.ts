import type pg from 'pg';
import { revokedFrom, unusedSince, warningBound } from '../../unused.js';
import { forgetUnused } from './unused.sql.js';

export interface UnusedToken {
  readonly id: string;
  readonly name: string;
  /** Of the service account that it acts as. */
  readonly account: string | null;
  readonly unusedSince: Date;
  readonly revokedFrom: Date;
}

/* A loose index scan: a holder with many tokens costs no more than others. */
const holdersToWarn = `
  with recursive holders (id) as (
    (select holder_id from unused_tokens where warned_at is null and is_organisation = $1 order by holder_id limit 1)
    union all
    select (select holder_id from unused_tokens
            where warned_at is null and is_organisation = $1 and holder_id > holders.id order by holder_id limit 1)
    from holders where holders.id is not null
  )
  select id, $1 as "isOrganisation" from holders
  where id is not null and id <> all($2)
    and not exists (select from token_digests digest where digest.holder_id = holders.id and digest.day >= $3)
  limit $4`;

/** Finds holders of tokens to be warned about, who have not got their digest of the day. */
export async function findHoldersToWarn(
  db: pg.Pool,
  search: {
    readonly isOrganisation: boolean;
    readonly except: readonly string[];
    /** A day of UTC. */
    readonly day: string;
    readonly limit: number;
  },
): Promise<{ readonly id: string; readonly isOrganisation: boolean }[]> {
  const { isOrganisation, except, day, limit } = search;
  const { rows } = await db.query<{ id: string; isOrganisation: boolean }>(holdersToWarn, [
    isOrganisation,
    except,
    day,
    limit,
  ]);
  return rows;
}

const toWarn = `
  select token.id, token.name, account.name as account,
    ${unusedSince} as "unusedSince", ${revokedFrom('$3')} as "revokedFrom",
    coalesce(token.status = 'active' and token.successor_id is null and ${unusedSince} <= ${warningBound('$3')}, false)
      as "isUnused",
    account.removed_at is null and (token.expires_at is null or token.expires_at > ${revokedFrom('$3')}) as "isReportable"
  from unused_tokens unused join personal_access_tokens token on token.id = unused.token_id
    left join service_accounts account on account.id = token.service_account_id
    left join token_policies policy on policy.org_id = token.org_id and policy.revoke_unused_days is not null
    left join token_last_used used on used.token_id = token.id
  where unused.warned_at is null and unused.holder_id = $1 and unused.is_organisation = $2
  order by token.id for no key update of unused`;

const setWarned = `update unused_tokens set warned_at = $2 where token_id = any($1::uuid[])`;

/**
 * Marks the holder's unused tokens as warned about, and deletes the marks of tokens that are used again.
 *
 * @returns the tokens in the holder's warning: a token that expires before that is not among them.
 */
export async function takeUnused(
  client: pg.PoolClient,
  holder: { readonly id: string; readonly isOrganisation: boolean },
  now: Date,
): Promise<UnusedToken[]> {
  const { rows } = await client.query<
    UnusedToken & { readonly isUnused: boolean; readonly isReportable: boolean }
  >(toWarn, [holder.id, holder.isOrganisation, now]);
  const unused = rows.filter(({ isUnused }) => isUnused);
  await client.query(setWarned, [unused.map(({ id }) => id), now]);
  await forgetUnused(
    client,
    rows.filter(({ isUnused }) => !isUnused).map(({ id }) => id),
  );
  return unused.filter(({ isReportable }) => isReportable);
}
