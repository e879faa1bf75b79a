import type { ListWindow } from '@platform/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { insertSuppressionFacts } from './facts.sql.js';
import { SUPPRESSED_DAYS } from './rules.js';

export interface SuppressionRow {
  readonly id: string;
  readonly address: string;
  readonly reason: string;
  readonly status: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export interface NewSuppression {
  /** In lower case. */
  readonly address: string;
  readonly reason: 'bounce' | 'complaint' | 'administrator';
  readonly status: string | null;
}

/** Selects the suppressions of an organisation that have not expired. */
export interface SuppressionFilter {
  readonly orgId: string;
  readonly at: Date;
  /** A part of the address, in lower case. */
  readonly search: string;
}

const columns = `id::text, address, reason, status, created_at as "createdAt", expires_at as "expiresAt"`;
const isWanted = `org_id = $1 and expires_at > $2 and position($3 in address) > 0`;

/** Adds suppressions, or renews existing ones. @param added - with distinct addresses. */
export async function addSuppressions(
  db: pg.Pool,
  { orgId, at }: Pick<SuppressionFilter, 'orgId' | 'at'>,
  added: readonly NewSuppression[],
): Promise<SuppressionRow[]> {
  // Replicas write addresses in the same order, so that they can't wait for each other.
  const rows = added
    .toSorted((a, b) => (a.address < b.address ? -1 : 1))
    .map((suppression) => ({ id: uuidv7({ msecs: at.getTime() }), ...suppression }));
  const result = await db.query<SuppressionRow>(
    `with added as (
       insert into suppressions (id, org_id, address, reason, status, created_at, expires_at)
       select id, $1, address, reason, status, $2, $2::timestamptz + interval '${SUPPRESSED_DAYS} days'
       from jsonb_to_recordset($3::jsonb) as given (id uuid, address text, reason text, status text)
       on conflict (org_id, address) do update set
         reason = excluded.reason, status = excluded.status, expires_at = excluded.expires_at
       returning *, xmax = 0 as is_new
     ), facts as (${insertSuppressionFacts('(select * from added where is_new)')}
     )
     select ${columns} from added`,
    [orgId, at, JSON.stringify(rows)],
  );
  return result.rows;
}

/** Returns the suppressions among these addresses. */
export async function findKnown(
  db: pg.Pool,
  { orgId, at }: Pick<SuppressionFilter, 'orgId' | 'at'>,
  suppressions: readonly NewSuppression[],
): Promise<NewSuppression[]> {
  const { rows } = await db.query<{ address: string }>(
    'select address from suppressions where org_id = $1 and expires_at > $2 and address = any($3)',
    [orgId, at, suppressions.map(({ address }) => address)],
  );
  const known = new Set(rows.map(({ address }) => address));
  return suppressions.filter(({ address }) => known.has(address));
}

/** @returns the number of matches, at most `maxCount`. */
export async function countSuppressions(
  db: pg.Pool,
  { orgId, at, search }: SuppressionFilter,
  maxCount: number,
): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from (select from suppressions where ${isWanted} limit $4) found`,
    [orgId, at, search, maxCount],
  );
  return rows[0]?.count ?? 0;
}

/** @returns the suppressions of the window, newest first. */
export async function findSuppressions(
  db: pg.Pool,
  { orgId, at, search }: SuppressionFilter,
  { isFromEnd, offset, count, beforeId }: ListWindow,
): Promise<SuppressionRow[]> {
  const { rows } = await db.query<SuppressionRow>(
    `select ${columns} from suppressions
     where ${isWanted} and ($4::uuid is null or id < $4)
     order by suppressions.id ${isFromEnd ? 'asc' : 'desc'} limit $5 offset $6`,
    [orgId, at, search, beforeId ?? null, count, offset],
  );
  return isFromEnd ? rows.toReversed() : rows;
}

/** @returns false when the organisation has no such suppression. */
export async function removeSuppression(db: pg.Pool, orgId: string, id: string): Promise<boolean> {
  const { rowCount } = await db.query('delete from suppressions where org_id = $1 and id = $2', [orgId, id]);
  return rowCount === 1;
}

/** Deletes up to a thousand suppressions that have expired. */
export async function expireSuppressions(db: pg.Pool, at: Date): Promise<void> {
  await db.query(
    `delete from suppressions where id in (
       select id from suppressions where expires_at <= $1 order by expires_at limit 1000 for update skip locked)`,
    [at],
  );
}
