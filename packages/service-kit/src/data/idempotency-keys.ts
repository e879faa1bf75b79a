import type pg from 'pg';

/** A key of a credential, as the hash of what was sent. */
export interface IdempotencyKey {
  readonly orgId: string;
  readonly credentialId: string;
  readonly keyHash: string;
}

/** The first request with a key. */
export interface FirstRequest {
  /** Of its method, URL and body. */
  readonly digest: string;
  /** Its response; null while it is under way, or when its outcome is unknown. */
  readonly status: number | null;
  readonly sealedBody: string | null;
}

const WHERE = 'org_id = $1 and credential_id = $2 and key_hash = $3';
const toValues = ({ orgId, credentialId, keyHash }: IdempotencyKey) => [orgId, credentialId, keyHash];

/**
 * Claims a key for a request, unless another one has it. The row is locked by the insert, so of requests that come at once,
 * one alone gets it. An expired key is claimed again.
 *
 * @returns the request that has the key; undefined when this one has it now.
 */
export async function claimIdempotencyKey(
  pool: pg.Pool,
  key: IdempotencyKey,
  { digest, now, expiresAt }: { readonly digest: string; readonly now: Date; readonly expiresAt: Date },
): Promise<FirstRequest | undefined> {
  for (;;) {
    const claimed = await pool.query({
      name: 'claim_idempotency_key',
      text: `
        insert into idempotency_keys as held (org_id, credential_id, key_hash, request_digest, expires_at)
        values ($1, $2, $3, $4, $6)
        on conflict (org_id, credential_id, key_hash) do update
          set request_digest = excluded.request_digest, status = null, sealed_body = null, expires_at = excluded.expires_at
          where held.expires_at <= $5`,
      values: [...toValues(key), digest, now, expiresAt],
    });
    if (claimed.rowCount === 1) return undefined;
    const { rows } = await pool.query<FirstRequest>({
      name: 'find_idempotency_key',
      text: `select request_digest as digest, status, sealed_body as "sealedBody" from idempotency_keys where ${WHERE}`,
      values: toValues(key),
    });
    // It may have been released in between.
    if (rows[0]) return rows[0];
  }
}

/** Keeps the response to the request that has claimed the key. */
export async function keepIdempotentResponse(
  pool: pg.Pool,
  key: IdempotencyKey,
  { status, sealedBody }: { readonly status: number; readonly sealedBody: string },
): Promise<void> {
  await pool.query(`update idempotency_keys set status = $4, sealed_body = $5 where ${WHERE}`, [
    ...toValues(key),
    status,
    sealedBody,
  ]);
}

/** Gives the key back, because its request did nothing. */
export async function releaseIdempotencyKey(pool: pg.Pool, key: IdempotencyKey): Promise<void> {
  await pool.query(`delete from idempotency_keys where ${WHERE}`, toValues(key));
}

/** Deletes keys that have expired, at most so many. @returns how many. */
export async function deleteIdempotencyKeys(pool: pg.Pool, now: Date, limit: number): Promise<number> {
  const { rowCount } = await pool.query(
    `delete from idempotency_keys where ctid in (
       select ctid from idempotency_keys where expires_at <= $1 limit $2 for update skip locked
     )`,
    [now, limit],
  );
  return rowCount ?? 0;
}
