import { hash } from 'node:crypto';
import { tooManyRequests } from '@platform/service-kit';
import type pg from 'pg';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';

/*
 * Attempts at what is open to everyone, counted in PostgreSQL so that all replicas count together.
 * The package was chosen for doing that atomically in one statement, over any of our backing stores.
 */
const WINDOW_SECONDS = 15 * 60;

export interface AttemptLimits {
  /**
   * Counts an attempt before it is made, so that many at once get no extra guesses.
   *
   * @param subject - the e-mail or the link's token: what is tried.
   * @throws AppError 429.
   */
  begin(subject: string, address: string): Promise<void>;
  /** It was right: the attempt is taken back, the subject's failures forgotten. */
  succeed(subject: string, address: string): Promise<void>;
}

export interface AttemptLimitOptions {
  /** Part of the stored keys: what is counted apart has a name apart. */
  readonly name: string;
  readonly perSubject: number;
  readonly perAddress: number;
  /** Public text of the refusal. */
  readonly message: string;
}

/** Both limits are per 15 minutes. */
export function createAttemptLimits(pool: pg.Pool, options: AttemptLimitOptions): AttemptLimits {
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
  const subjects = limiter(`${options.name}:account`, options.perSubject);
  const addresses = limiter(`${options.name}:address`, options.perAddress);
  // Whoever reads the table learns no addresses and no tokens, and an e-mail of any length fits the column.
  const keyOf = (subject: string): string => hash('sha256', subject, 'base64url');
  async function consume(limits: RateLimiterPostgres, key: string): Promise<void> {
    try {
      await limits.consume(key);
    } catch (refusal) {
      if (refusal instanceof RateLimiterRes)
        throw tooManyRequests(refusal.msBeforeNext / 1_000, options.message);
      throw refusal;
    }
  }
  return {
    async begin(subject, address) {
      await consume(addresses, address);
      await consume(subjects, keyOf(subject));
    },
    async succeed(subject, address) {
      await Promise.all([subjects.delete(keyOf(subject)), addresses.reward(address)]);
    },
  };
}
