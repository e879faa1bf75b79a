import type pg from 'pg';
import { insertFactsOfEntries } from '../../audit/record.sql.js';
import type { LastUse } from './last-used.js';

/*
 * Writes all uses since the last flush in one statement. A time never moves backwards, whichever replica writes last. An
 * inserted row (xmax = 0) is the first use of a token, which is recorded in the audit exactly once, under a UUIDv7 of that
 * time.
 */
const writeUses = `
  with used as (
    select * from unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[])
      as used (token_id, at_ms, address, user_agent)
  ), written as (
    insert into token_last_used as kept (token_id, last_used_at, address, user_agent)
    select token_id, to_timestamp(at_ms / 1000.0), address, user_agent from used order by token_id
    on conflict (token_id) do update
      set (last_used_at, address, user_agent) = (excluded.last_used_at, excluded.address, excluded.user_agent)
      where kept.last_used_at < excluded.last_used_at
    returning token_id, last_used_at, (xmax = 0) as is_first
  ), entry as (
    insert into audit_entries (id, org_id, action, actor_id, credential_kind, credential_id, subject_id, created_at)
    select uuid_v7(written.last_used_at), token.org_id, 'token.first_used', coalesce(token.owner_id, token.service_account_id), 'pat', token.id, token.id, written.last_used_at
    from written join personal_access_tokens token on token.id = written.token_id
    where written.is_first
    returning *
  ) ${insertFactsOfEntries('entry')}`;

/** Records the uses of personal access tokens. */
export const recordTokenUses = (db: pg.Pool, uses: readonly LastUse[]): Promise<unknown> =>
  db.query({
    name: 'write_uses',
    text: writeUses,
    values: [
      uses.map((use) => use.tokenId),
      uses.map((use) => use.at),
      uses.map((use) => use.address),
      uses.map((use) => use.userAgent),
    ],
  });

/*
 * The last use of an access token is that of its grant or service account, and of its client. Rows are locked in the
 * order of their ids, so that the statements of two replicas cannot deadlock.
 */
const writeAccessTokenUses = `
  with used as materialized (
    select token.grant_id, token.service_account_id, token.client_id, to_timestamp(used.at_ms / 1000.0) as at
    from unnest($1::uuid[], $2::bigint[]) as used (token_id, at_ms)
      join oauth_access_tokens token on token.id = used.token_id
  ), grants as materialized (
    select g.id, max(used.at) as at from used join oauth_grants g on g.id = used.grant_id group by g.id
  ), locked_grants as materialized (
    select g.id from oauth_grants g where g.id in (select id from grants) order by g.id for no key update
  ), accounts as materialized (
    select service_account_id as id, max(at) as at from used where service_account_id is not null group by 1
  ), locked_accounts as materialized (
    select a.id from service_accounts a where a.id in (select id from accounts) order by a.id for no key update
  ), clients as materialized (
    select client_id as id, max(at) as at from used group by 1
  ), locked_clients as materialized (
    select c.id from oauth_clients c where c.id in (select id from clients) order by c.id for no key update
  ), written_grants as (
    update oauth_grants g set last_used_at = grants.at
    from grants join locked_grants using (id)
    where g.id = grants.id and (g.last_used_at is null or g.last_used_at < grants.at)
  ), written_accounts as (
    update service_accounts a set last_used_at = accounts.at
    from accounts join locked_accounts using (id)
    where a.id = accounts.id and (a.last_used_at is null or a.last_used_at < accounts.at)
  )
  update oauth_clients c set last_used_at = clients.at
  from clients join locked_clients using (id)
  where c.id = clients.id and (c.last_used_at is null or c.last_used_at < clients.at)`;

/** Records the uses of OAuth access tokens. */
export const recordAccessTokenUses = (db: pg.Pool, uses: readonly LastUse[]): Promise<unknown> =>
  db.query({
    name: 'write_access_token_uses',
    text: writeAccessTokenUses,
    values: [uses.map((use) => use.tokenId), uses.map((use) => use.at)],
  });
