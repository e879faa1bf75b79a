import type pg from 'pg';
import { insertFactsOfEntries } from '../../audit/record.sql.js';

/** A use of a token: its id, the digest of what was presented, and the client. */
export interface TokenUse {
  readonly tokenId: string;
  readonly digest: string;
  /** Null when it is unknown. */
  readonly address: string | null;
  readonly userAgent: string | undefined;
}

/** Why a token with a valid signature was refused. */
export type RefusalCause = 'address' | 'ended';

/** A use of a personal access token, or of an access token of an OAuth client. */
export interface PresentedToken extends TokenUse {
  readonly kind: 'pat' | 'oauth';
  /** The holder that repeated refusals are counted for: a token, or an account with its client, which often gets new tokens. */
  readonly holder: string;
}

/** A refusal with the id of its audit entry, so that writing it twice adds one entry. */
export interface RefusedUse extends PresentedToken {
  readonly id: string;
  readonly cause: RefusalCause;
  readonly at: Date;
}

/*
 * Writes refused uses of tokens to the audit. A token that has ended is worth an entry only when it was rotated: whoever
 * still has its old value may have stolen it. The digest proves that the real token was presented. The row of `token_reuses`
 * is stored with the entry, so that a job reacts to the use even if this replica dies. Repeating the statement adds no entry.
 */
const insert = `
  with refused as materialized (
    select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[], $8::text[])
      as refused (id, token_id, digest, cause, address, user_agent, at, kind)
  ), found as (
    select refused.*, token.org_id, '{}'::jsonb as detail
    from refused
      join personal_access_tokens token on token.id = refused.token_id and token.token_hash = refused.digest
    where refused.kind = 'pat' and (refused.cause = 'address' or (token.successor_id is not null
      and (token.status = 'revoked' or (token.status = 'active' and token.expires_at <= refused.at))))
    union all
    select refused.*, coalesce(granted.org_id, account.org_id), jsonb_build_object('clientId', token.client_id)
    from refused
      join oauth_access_tokens token on token.id = refused.token_id and token.token_hash = refused.digest
      left join oauth_grants granted on granted.id = token.grant_id
      left join service_accounts account on account.id = token.service_account_id
    where refused.kind = 'oauth' and refused.cause = 'address'
  ), written as (
    insert into audit_entries
      (id, org_id, action, credential_kind, credential_id, subject_id, address, user_agent, reason, detail, created_at)
    select id, org_id, case cause when 'address' then 'token.refused' else 'token.reused' end, kind, token_id, token_id,
           address, user_agent, case cause when 'address' then 'address not allowed' end, detail, at
    from found
    order by id
    on conflict do nothing
    returning *
  ), facts as (${insertFactsOfEntries('written')}
  ), reused as (
    insert into token_reuses (token_id, address, user_agent, used_at)
    select distinct on (token_id) token_id, address, user_agent, at from found where cause = 'ended' order by token_id, id
    on conflict do nothing
  )
  select from found where cause = 'ended' limit 1`;

/** @returns whether a rotated token was used after its end, which the job of `token-reuse` reacts to. */
export async function insertRefusedUses(db: pg.Pool, uses: readonly RefusedUse[]): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'insert_refused_uses',
    text: insert,
    values: [
      uses.map(({ id }) => id),
      uses.map(({ tokenId }) => tokenId),
      uses.map(({ digest }) => digest),
      uses.map(({ cause }) => cause),
      uses.map(({ address }) => address),
      uses.map(({ userAgent }) => userAgent ?? null),
      uses.map(({ at }) => at),
      uses.map(({ kind }) => kind),
    ],
  });
  return rowCount === 1;
}
