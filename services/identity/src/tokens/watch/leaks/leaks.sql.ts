import type pg from 'pg';
import type { SqlClient } from '../../../base/sql-client.js';

/** A reported text, with the id that it names and its digest. */
export interface LeakedValue {
  readonly tokenId: string;
  readonly digest: string;
  readonly url: string | null;
}

const insert = `
  insert into leak_reports (id, token_id, digest, url, created_at)
  select gen_random_uuid(), token_id, digest, url, $4
  from unnest($1::uuid[], $2::text[], $3::text[]) as reported (token_id, digest, url)`;

export const insertLeakReports = (db: pg.Pool, values: readonly LeakedValue[], at: Date): Promise<unknown> =>
  db.query({
    name: 'insert_leak_reports',
    text: insert,
    values: [
      values.map(({ tokenId }) => tokenId),
      values.map(({ digest }) => digest),
      values.map(({ url }) => url),
      at,
    ],
  });

/* The report itself may have revoked a token without being settled. */
const wasAlive = (token: string): string => `
  (${token}.expires_at is null or ${token}.expires_at > report.created_at)
  and (${token}.revoked_at is null or ${token}.revoked_at >= report.created_at)`;

/*
 * A reported token that was alive when the report came, or had rotated itself into such a token: it may have ended in
 * the meantime, and its owner still has to be notified where it was found.
 */
const isLeaked = `token.id = report.token_id and token.token_hash = report.digest
  and (${wasAlive('token')} or exists (
    select from personal_access_tokens successor
    where successor.lineage_id = coalesce(token.lineage_id, token.id) and ${wasAlive('successor')}))`;

/* Deletes the reports of anything else. Replicas take different ones. */
const dropIdle = `
  delete from leak_reports report
  where id in (select id from leak_reports order by id limit $1 for update skip locked)
    and not exists (select from personal_access_tokens token where ${isLeaked})`;

export interface LeakedToken {
  readonly reportId: string;
  readonly reportedAt: Date;
  readonly tokenId: string;
  readonly url: string | null;
  readonly orgId: string;
  /** Null for a service account, which gets no mail. */
  readonly ownerId: string | null;
  readonly name: string;
  readonly ownerName: string;
}

const leakedTokens = `
  select report.id as "reportId", report.created_at as "reportedAt", token.id as "tokenId", report.url,
    token.org_id as "orgId", token.owner_id as "ownerId", token.name, coalesce(owner.full_name, account.name) as "ownerName"
  from (select * from leak_reports order by id limit $1) report
    join personal_access_tokens token on ${isLeaked}
    left join users owner on owner.id = token.owner_id
    left join service_accounts account on account.id = token.service_account_id
  order by report.id`;

/** @returns the reported tokens that were alive when their reports came, of at most `limit` reports. */
export async function findLeakedTokens(db: pg.Pool, limit: number): Promise<LeakedToken[]> {
  await db.query(dropIdle, [limit]);
  const { rows } = await db.query<LeakedToken>(leakedTokens, [limit]);
  return rows;
}

export const hasLeakReports = async (db: pg.Pool): Promise<boolean> =>
  (await db.query('select from leak_reports limit 1')).rowCount === 1;

/** Locks the token, and returns whether its leak has not been reported yet: of reports at the same time, one is the first. */
export async function isFirstReport(tx: SqlClient, orgId: string, tokenId: string): Promise<boolean> {
  await tx.query('select from personal_access_tokens where id = $1::uuid for no key update', [tokenId]);
  const { rows } = await tx.query(
    `select 1 from audit_entries where org_id = $1::uuid and subject_id = $2::uuid and action = 'token.leaked' limit 1`,
    [orgId, tokenId],
  );
  return rows.length === 0;
}

/** @returns false when another replica has settled the report. */
export async function deleteLeakReport(tx: SqlClient, id: string): Promise<boolean> {
  const { rows } = await tx.query('delete from leak_reports where id = $1::uuid returning id::text', [id]);
  return rows.length > 0;
}
