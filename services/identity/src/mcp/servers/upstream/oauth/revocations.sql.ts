import type pg from 'pg';

/** Tokens that have ended here. */
export interface Revocation {
  readonly id: string;
  readonly serverId: string;
  readonly accountId: string;
  readonly secretSealed: string;
  readonly endedAt: Date;
  /** This one included. */
  readonly attempts: number;
}

/** Hands tokens over that were never stored, or are stored no more. */
export const insertRevocation = (
  db: pg.Pool,
  { id, serverId, accountId, secretSealed, endedAt }: Omit<Revocation, 'attempts'>,
): Promise<unknown> =>
  db.query({
    name: 'insert_mcp_revocation',
    text: `insert into mcp_revocations (id, server_id, account_id, secret_sealed, ended_at, next_attempt_at)
      values ($1, $2, $3, $4, $5, $5)`,
    values: [id, serverId, accountId, secretSealed, endedAt],
  });

/** Claims tokens that are due, the longest due first: another replica gets them when the lease has ended. */
export async function claimRevocations(
  db: pg.Pool,
  { now, leasedUntil, limit }: { readonly now: Date; readonly leasedUntil: Date; readonly limit: number },
): Promise<Revocation[]> {
  const { rows } = await db.query<Revocation>({
    name: 'claim_mcp_revocations',
    text: `update mcp_revocations set attempts = attempts + 1, next_attempt_at = $2
      where id in (select id from mcp_revocations where next_attempt_at <= $1
                   order by next_attempt_at limit $3 for update skip locked)
      returning id, server_id as "serverId", account_id as "accountId", secret_sealed as "secretSealed",
        ended_at as "endedAt", attempts`,
    values: [now, leasedUntil, limit],
  });
  return rows;
}

export const postponeRevocation = (db: pg.Pool, id: string, nextAttemptAt: Date): Promise<unknown> =>
  db.query('update mcp_revocations set next_attempt_at = $2 where id = $1', [id, nextAttemptAt]);

export const deleteRevocation = (db: pg.Pool, id: string): Promise<unknown> =>
  db.query('delete from mcp_revocations where id = $1', [id]);
