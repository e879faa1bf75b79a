import type pg from 'pg';

/** A rotated token that was used after its end, without a reaction yet. */
export interface ReusedToken {
  readonly tokenId: string;
  readonly orgId: string;
  /** Null for a service account: its administrators are notified. */
  readonly ownerId: string | null;
  readonly name: string;
}

const reusedTokens = `
  select token.id as "tokenId", org_id as "orgId", owner_id as "ownerId", name
  from token_reuses reuse join personal_access_tokens token on token.id = reuse.token_id
  where reuse.token_id > $1 order by reuse.token_id limit $2`;

export async function findReusedTokens(db: pg.Pool, afterId: string, limit: number): Promise<ReusedToken[]> {
  const { rows } = await db.query<ReusedToken>(reusedTokens, [afterId, limit]);
  return rows;
}

/** The use of a rotated token that is reacted to. */
export interface Reuse {
  /** Null when it is unknown. */
  readonly address: string | null;
  readonly userAgent: string | null;
  readonly usedAt: Date;
}

/* A row that another replica has locked is skipped. */
const claim = `
  delete from token_reuses
  where token_id = (select token_id from token_reuses where token_id = $1 for update skip locked)
  returning address, user_agent as "userAgent", used_at as "usedAt"`;

/** Claims the reaction for this transaction: a rollback returns it. @returns undefined when it is somebody else's. */
export async function claimReuse(client: pg.PoolClient, tokenId: string): Promise<Reuse | undefined> {
  const { rows } = await client.query<Reuse>(claim, [tokenId]);
  return rows[0];
}

const claimNotice = `
  update personal_access_tokens set reuse_reported_at = $2
  where id = $1 and (reuse_reported_at is null or reuse_reported_at < $3)`;

/** @returns false when the owner has been notified since `before`. */
export async function claimReuseNotice(
  client: pg.PoolClient,
  tokenId: string,
  at: Date,
  before: Date,
): Promise<boolean> {
  return (await client.query(claimNotice, [tokenId, at, before])).rowCount === 1;
}
