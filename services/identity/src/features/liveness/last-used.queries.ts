import type pg from 'pg';

export interface TokenUse {
  readonly tokenId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The id of the audit entry that is written if this is the first use. */
  readonly auditId: string;
}

/*
 * Writes all uses since the last flush in one statement. A time never moves backwards, whichever replica writes last.
 * An inserted row (xmax = 0) is the first use of a token, which is recorded in the audit exactly once.
 */
const writeUses = `
  with used as (
    select * from unnest($1::uuid[], $2::bigint[], $3::uuid[]) as used (token_id, at_ms, audit_id)
  ), written as (
    insert into token_last_used as kept (token_id, last_used_at)
    select token_id, to_timestamp(at_ms / 1000.0) from used order by token_id
    on conflict (token_id) do update set last_used_at = excluded.last_used_at
      where kept.last_used_at < excluded.last_used_at
    returning token_id, last_used_at, (xmax = 0) as is_first
  )
  insert into audit_entries (id, org_id, action, actor_id, credential_kind, credential_id, subject_id, created_at)
  select used.audit_id, tokens.org_id, 'token.first_used', tokens.owner_id, 'pat', tokens.id, tokens.id, written.last_used_at
  from written
    join used using (token_id)
    join personal_access_tokens tokens on tokens.id = written.token_id
  where written.is_first`;

export const recordTokenUses = (db: pg.Pool, uses: readonly TokenUse[]): Promise<unknown> =>
  db.query({
    name: 'write_uses',
    text: writeUses,
    values: [uses.map((use) => use.tokenId), uses.map((use) => use.at), uses.map((use) => use.auditId)],
  });
