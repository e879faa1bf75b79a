import type pg from 'pg';

/** Which token: one of an organisation's sign-ins. */
export interface TokenKey {
  readonly orgId: string;
  readonly fingerprint: string;
}

export interface TokenRow {
  readonly sealedToken: string | null;
  /** When it was issued, when a new one is due, and when it ends. */
  readonly issuedAt: Date | null;
  readonly refreshAt: Date | null;
  readonly expiresAt: Date | null;
  readonly sealedRefreshToken: string | null;
  /** Why the last request failed, if it came after the last successful one. */
  readonly problem: string | null;
  readonly failedAt: Date | null;
  /** Identifies a claim: only the replica that has it releases it. */
  readonly fetchingUntil: Date | null;
  readonly isFetching: boolean;
}

const columns = `sealed_token "sealedToken", issued_at "issuedAt", refresh_at "refreshAt", expires_at "expiresAt",
  sealed_refresh_token "sealedRefreshToken", problem, failed_at "failedAt", fetching_until "fetchingUntil", coalesce(fetching_until > now(), false) "isFetching"`;

export async function findToken(
  db: pg.Pool,
  { orgId, fingerprint }: TokenKey,
): Promise<TokenRow | undefined> {
  const { rows } = await db.query<TokenRow>(
    `select ${columns} from smtp_tokens where org_id = $1 and fingerprint = $2`,
    [orgId, fingerprint],
  );
  return rows[0];
}

/**
 * Claims the right to request a token, for which no transaction waits: a provider may take seconds to answer.
 *
 * @param options.issuedBefore - a token that was issued then or later is new enough.
 * @param options.failedBefore - after a later failure, the provider is left alone.
 * @returns undefined when another replica requests one, when the provider is left alone or when the token is new enough.
 */
export async function claimTokenRequest(
  db: pg.Pool,
  { orgId, fingerprint }: TokenKey,
  options: {
    readonly now: Date;
    /** By the clock of the database, which all replicas share. */
    readonly leaseMs: number;
    readonly issuedBefore: Date;
    readonly failedBefore: Date;
  },
): Promise<TokenRow | undefined> {
  const { now, leaseMs, issuedBefore, failedBefore } = options;
  const { rows } = await db.query<TokenRow>(
    `insert into smtp_tokens as token (org_id, fingerprint, fetching_until, updated_at)
     values ($1, $2, now() + $4::int * interval '1 ms', $3)
     on conflict (org_id, fingerprint) do update set fetching_until = excluded.fetching_until, updated_at = $3
       where (token.fetching_until is null or token.fetching_until <= now())
         and (token.issued_at is null or token.refresh_at <= $3 or token.issued_at < $5)
         and (token.failed_at is null or token.failed_at <= $6)
     returning ${columns}`,
    [orgId, fingerprint, now, leaseMs, issuedBefore, failedBefore],
  );
  return rows[0];
}

const MONTH_MS = 30 * 24 * 60 * 60_000;

/**
 * Stores a token, and the refresh token that came with it. It takes effect although the claim has expired, because the
 * provider may accept no earlier refresh token any more. Deletes what sign-ins of before have left.
 */
export async function storeToken(
  db: pg.Pool,
  { orgId, fingerprint }: TokenKey,
  token: {
    readonly sealedToken: string;
    readonly issuedAt: Date;
    readonly refreshAt: Date;
    readonly expiresAt: Date;
    readonly sealedRefreshToken: string | null;
  },
): Promise<void> {
  await db.query(
    `update smtp_tokens
     set sealed_token = $3, issued_at = $4, refresh_at = $5, expires_at = $6,
       sealed_refresh_token = coalesce($7, sealed_refresh_token),
       problem = null, failed_at = null, fetching_until = null, updated_at = $4
     where org_id = $1 and fingerprint = $2`,
    [
      orgId,
      fingerprint,
      token.sealedToken,
      token.issuedAt,
      token.refreshAt,
      token.expiresAt,
      token.sealedRefreshToken,
    ],
  );
  await db.query('delete from smtp_tokens where org_id = $1 and fingerprint <> $2 and updated_at < $3', [
    orgId,
    fingerprint,
    new Date(token.issuedAt.getTime() - MONTH_MS),
  ]);
}

/** Stores why there is no token, and releases the claim, unless another replica has it now. */
export async function storeTokenProblem(
  db: pg.Pool,
  { orgId, fingerprint }: TokenKey,
  { problem, failedAt, claimed }: { problem: string; failedAt: Date; claimed: TokenRow },
): Promise<void> {
  await db.query(
    `update smtp_tokens set problem = $3, failed_at = $4, fetching_until = null, updated_at = $4
     where org_id = $1 and fingerprint = $2 and fetching_until = $5`,
    [orgId, fingerprint, problem, failedAt, claimed.fetchingUntil],
  );
}

/** Ends a token that the SMTP server refused, so that the next mail gets a new one. */
export async function endToken(
  db: pg.Pool,
  { orgId, fingerprint }: TokenKey,
  issuedAt: Date,
  now: Date,
): Promise<void> {
  await db.query(
    `update smtp_tokens set refresh_at = $4, expires_at = $4
     where org_id = $1 and fingerprint = $2 and issued_at = $3`,
    [orgId, fingerprint, issuedAt, now],
  );
}
