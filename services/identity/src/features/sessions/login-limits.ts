import { hash } from 'node:crypto';
import { tooManyRequests } from '@platform/service-kit';
import type pg from 'pg';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';

/*
 * Failed sign-ins, counted in PostgreSQL so that all replicas count together. The package was
 * chosen for doing that atomically in one statement, over any of our backing stores.
 */
const WINDOW_SECONDS = 15 * 60;
const FAILURES_PER_ACCOUNT = 10;
const FAILURES_PER_ADDRESS = 100;

export interface LoginLimits {
  /** Counts an attempt before it is made, so that many at once get no extra guesses. @throws AppError 429. */
  begin(email: string, address: string): Promise<void>;
  /** It was the right password: the attempt is taken back, the account's failures forgotten. */
  succeed(email: string, address: string): Promise<void>;
}

export function createLoginLimits(pool: pg.Pool): LoginLimits {
  const limiter = (keyPrefix: string, points: number) =>
    new RateLimiterPostgres({
      storeClient: pool,
      storeType: 'pool',
      tableName: 'rate_limits',
      tableCreated: true,
      keyPrefix,
      points,
      duration: WINDOW_SECONDS,
      clearExpiredByTimeout: true,
    });
  const accounts = limiter('login:account', FAILURES_PER_ACCOUNT);
  const addresses = limiter('login:address', FAILURES_PER_ADDRESS);
  // Whoever reads the table learns no addresses, and an e-mail of any length fits the column.
  const keyOf = (email: string): string => hash('sha256', email, 'base64url');
  async function consume(limits: RateLimiterPostgres, key: string): Promise<void> {
    try {
      await limits.consume(key);
    } catch (refusal) {
      if (refusal instanceof RateLimiterRes)
        throw tooManyRequests(refusal.msBeforeNext / 1_000, 'Too many failed sign-ins: try again later');
      throw refusal;
    }
  }
  return {
    async begin(email, address) {
      await consume(addresses, address);
      await consume(accounts, keyOf(email));
    },
    async succeed(email, address) {
      await Promise.all([accounts.delete(keyOf(email)), addresses.reward(address)]);
    },
  };
}
