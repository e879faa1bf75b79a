import type pg from 'pg';
import { auditIdPrefix } from '../audit/queries.js';
import { WRONG_CODES_PER_DAY, WRONG_CODES_WINDOW_MS } from '../one-time-secrets/secret.js';
import { withdrawLapsedInvitations } from '../users/queries.js';

/*
 * Each statement handles a bounded batch in the order of an index, and skips rows that another replica has locked.
 */

/*
 * A rotated token ends with its grace: it is revoked, and its children get its successor as their parent, so that they
 * are revoked with that one.
 */
const expire = `
  with due as materialized (
    select id, org_id, expires_at, successor_id from personal_access_tokens
    where status = 'active' and expires_at <= $1
    order by expires_at limit $2 for update skip locked
  ), moved as (
    update personal_access_tokens child set parent_id = due.successor_id
    from due
    where child.parent_id = due.id and child.status = 'active' and due.successor_id is not null
      and not exists (select from due other where other.id = child.id)
  ), marked as (
    update personal_access_tokens token
    set status = case when token.successor_id is null then 'expired' else 'revoked' end::token_status,
        revoked_at = case when token.successor_id is not null then token.expires_at end,
        revoked_reason = case when token.successor_id is not null then 'rotated' end
    from due where token.id = due.id
    returning token.id
  ), audited as (
    insert into audit_entries (id, org_id, action, subject_id, reason, created_at)
    select ($3::text || substr(gen_random_uuid()::text, 16))::uuid, org_id, 'token.revoked', id, 'rotated', $1
    from due where successor_id is not null
  )
  select count(*)::int as count from marked`;

/** @returns how many tokens were marked. Expired tokens are rejected before that as well. */
export async function expireTokens(db: pg.Pool, now: Date, limit: number): Promise<number> {
  const { rows } = await db.query<{ count: number }>(expire, [now, limit, auditIdPrefix(now)]);
  return rows[0]?.count ?? 0;
}

/** @returns how many members were removed because they hadn't accepted their invitation in time. */
export async function expireInvitations(db: pg.Pool, now: Date, limit: number): Promise<number> {
  const { text, values } = withdrawLapsedInvitations(now, limit);
  const { rowCount } = await db.query(text, values);
  return rowCount ?? 0;
}

const purgeSecrets = `
  delete from one_time_secrets where (purpose, subject) in (
    select purpose, subject from one_time_secrets where expires_at <= $1
      -- A row with wrong guesses is kept for a day, so that they keep counting.
      and (purpose <> 'login_code' or tries_left >= $3
           or coalesce(tries_since <= $1::timestamptz - make_interval(secs => $4), true))
    order by expires_at limit $2 for update skip locked
  )`;

export async function deleteSecrets(db: pg.Pool, expiredBefore: Date, limit: number): Promise<number> {
  const { rowCount } = await db.query(purgeSecrets, [
    expiredBefore,
    limit,
    WRONG_CODES_PER_DAY,
    WRONG_CODES_WINDOW_MS / 1_000,
  ]);
  return rowCount ?? 0;
}

const purgeMails = `
  delete from outgoing_mails where id in (
    select id from outgoing_mails where expires_at <= $1 order by expires_at limit $2 for update skip locked
  )`;

/** @returns how many mails were deleted because their code, link or news has expired. */
export async function deleteMails(db: pg.Pool, expiredBefore: Date, limit: number): Promise<number> {
  const { rowCount } = await db.query(purgeMails, [expiredBefore, limit]);
  return rowCount ?? 0;
}

const purge = `
  delete from sessions where id in (
    select id from sessions where expires_at <= $1 order by expires_at limit $2 for update skip locked
  )`;

export async function deleteSessions(db: pg.Pool, expiredBefore: Date, limit: number): Promise<number> {
  const { rowCount } = await db.query(purge, [expiredBefore, limit]);
  return rowCount ?? 0;
}

const purgePendingSignIns = `
  delete from pending_sign_ins where token_hash in (
    select token_hash from pending_sign_ins where expires_at <= $1 order by expires_at limit $2 for update skip locked
  )`;

/** @returns how many sign-ins were deleted that nobody completed in time. */
export async function deletePendingSignIns(db: pg.Pool, now: Date, limit: number): Promise<number> {
  const { rowCount } = await db.query(purgePendingSignIns, [now, limit]);
  return rowCount ?? 0;
}

const purgeServiceCredentials = `
  delete from service_credentials where id in (
    select id from service_credentials where expires_at <= $1 order by expires_at limit $2 for update skip locked
  )`;

export async function deleteServiceCredentials(db: pg.Pool, now: Date, limit: number): Promise<number> {
  const { rowCount } = await db.query(purgeServiceCredentials, [now, limit]);
  return rowCount ?? 0;
}

const purgeToolCalls = `
  delete from tool_calls where id in (
    select id from tool_calls where id < $1 order by id limit $2 for update skip locked
  )`;

/** @param before - a UUIDv7: calls from before its time are deleted. */
export async function deleteToolCalls(db: pg.Pool, before: string, limit: number): Promise<number> {
  const { rowCount } = await db.query(purgeToolCalls, [before, limit]);
  return rowCount ?? 0;
}

const purgeAuditEntries = `
  delete from audit_entries where id in (
    select id from audit_entries where id < $1 order by id limit $2 for update skip locked
  )`;

/** @param before - a UUIDv7: entries from before its time are deleted. */
export async function deleteAuditEntries(db: pg.Pool, before: string, limit: number): Promise<number> {
  const { rowCount } = await db.query(purgeAuditEntries, [before, limit]);
  return rowCount ?? 0;
}

const purgeAccessTokens = `
  delete from oauth_access_tokens where id in (
    select id from oauth_access_tokens where expires_at <= $1 order by expires_at limit $2 for update skip locked
  )`;

export async function deleteAccessTokens(db: pg.Pool, now: Date, limit: number): Promise<number> {
  const { rowCount } = await db.query(purgeAccessTokens, [now, limit]);
  return rowCount ?? 0;
}

const purgeArtifacts = `
  delete from oauth_artifacts where (model, id_hash) in (
    select model, id_hash from oauth_artifacts where expires_at <= $1 order by expires_at limit $2 for update skip locked
  )`;

/** @returns how many authorization codes, refresh tokens and interactions were deleted. */
export async function deleteArtifacts(db: pg.Pool, now: Date, limit: number): Promise<number> {
  const { rowCount } = await db.query(purgeArtifacts, [now, limit]);
  return rowCount ?? 0;
}

/* A refresh token can expire after its grant. */
const purgeGrants = `
  with due as materialized (
    select id from oauth_grants where expires_at <= $1 order by expires_at limit $2 for update skip locked
  ), tokens as (
    delete from oauth_access_tokens where grant_id in (select id from due)
  ), artifacts as (
    delete from oauth_artifacts where grant_id in (select id from due)
  )
  delete from oauth_grants where id in (select id from due)`;

/** @returns how many connections were deleted, with all that belongs to them, that would have expired before then. */
export async function deleteGrants(db: pg.Pool, before: Date, limit: number): Promise<number> {
  const { rowCount } = await db.query(purgeGrants, [before, limit]);
  return rowCount ?? 0;
}

const purgeClients = `
  delete from oauth_clients where id in (
    select id from oauth_clients c
    where kind = 'registered' and last_used_at is null and created_at <= $1
      and not exists (select from oauth_grants g where g.client_id = c.id)
    order by created_at limit $2 for update skip locked
  )`;

/** @returns how many clients were deleted that had registered themselves before then and were never used. */
export async function deleteUnusedClients(db: pg.Pool, before: Date, limit: number): Promise<number> {
  const { rowCount } = await db.query(purgeClients, [before, limit]);
  return rowCount ?? 0;
}
