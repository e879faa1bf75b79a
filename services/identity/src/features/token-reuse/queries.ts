import type pg from 'pg';
import type { Transaction } from '../../resources.js';

export interface ReusedToken {
  readonly orgId: string;
  /** Null for a service account, which gets no mail. */
  readonly ownerId: string | null;
  readonly name: string;
  /** The newest token of its lineage. */
  readonly newestId: string;
}

const reusedToken = `
  with recursive lineage as (
    select id, successor_id from personal_access_tokens where id = $1
    union
    select token.id, token.successor_id
    from lineage join personal_access_tokens token on token.id = lineage.successor_id
  )
  select org_id as "orgId", owner_id as "ownerId", name,
    (select id from lineage where successor_id is null limit 1) as "newestId"
  from personal_access_tokens where id = $1`;

export async function findReusedToken(db: pg.Pool, tokenId: string): Promise<ReusedToken | undefined> {
  const { rows } = await db.query<ReusedToken>(reusedToken, [tokenId]);
  return rows[0];
}

/** @returns false when the owner has been told since `before`. */
export async function claimReuseNotice(
  tx: Transaction,
  tokenId: string,
  at: Date,
  before: Date,
): Promise<boolean> {
  const { count } = await tx.personalAccessToken.updateMany({
    where: { id: tokenId, OR: [{ reuseReportedAt: null }, { reuseReportedAt: { lt: before } }] },
    data: { reuseReportedAt: at },
  });
  return count > 0;
}
