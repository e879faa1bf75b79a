import { tooManyRequests } from '@platform/service-kit';
import type pg from 'pg';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { toKey } from './key.js';

/*
 * Attempts at what is open to everyone, counted in PostgreSQL so that all replicas count together.
 * The package was chosen for doing that atomically in one statement, over any of our backing stores.
 */
const WINDOW_SECONDS = 15 * 60;

/** Whoever has an IPv6 address has at least its /64. */
function toNetwork(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address;
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  const rest = tail === undefined || tail === '' ? [] : tail.split(':');
  const whole = [
    ...groups,
    ...Array<string>(Math.max(0, 8 - groups.length - rest.length)).fill('0'),
    ...rest,
  ];
  return `${whole.slice(0, 4).join(':')}::/64`;
}

const createLimiter = (pool: pg.Pool, keyPrefix: string, points: number, duration: number) =>
  new RateLimiterPostgres({
    storeClient: pool,
    storeType: 'pool',
    tableName: 'rate_limits',
    tableCreated: true,
    keyPrefix,
    points,
    duration,
    clearExpiredByTimeout: true,
  });

export interface AttemptLimits {
  /**
   * Counts an attempt before it is made, so that many at once get no extra guesses.
   *
   * @param subject - the e-mail or the link's token: what is tried.
   * @param isKnown - asked when the subject's own limit is reached: whoever comes from where its owner has been before
   *   has only the limit of the pair.
   * @throws AppError 429.
   */
  begin(subject: string, address: string, isKnown?: () => Promise<boolean>): Promise<void>;
  /** It was right: the attempt is taken back, the subject's failures forgotten. */
  succeed(subject: string, address: string): Promise<void>;
}

export interface AttemptLimitOptions {
  /** Part of the stored keys: what is counted apart has a name apart. */
  readonly name: string;
  /** Of all networks at one subject; without it, nobody can use a subject's attempts up for its owner. */
  readonly perSubject?: number;
  /** Of one network at one subject. */
  readonly perPair: number;
  readonly perAddress: number;
  /** Public text of the refusal. */
  readonly message: string;
}

/** All limits are per 15 minutes. */
export function createAttemptLimits(pool: pg.Pool, options: AttemptLimitOptions): AttemptLimits {
  const limiter = (keyPrefix: string, points: number) =>
    createLimiter(pool, keyPrefix, points, WINDOW_SECONDS);
  const pairs = limiter(`${options.name}:pair`, options.perPair);
  const subjects =
    options.perSubject === undefined ? undefined : limiter(`${options.name}:account`, options.perSubject);
  const addresses = limiter(`${options.name}:address`, options.perAddress);
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
    async begin(subject, address, isKnown = () => Promise.resolve(false)) {
      const network = toNetwork(address);
      await consume(addresses, toKey(network));
      await consume(pairs, toKey(`${subject} ${network}`));
      if (!subjects) return;
      try {
        await consume(subjects, toKey(subject));
      } catch (refusal) {
        if (!(await isKnown())) throw refusal;
      }
    },
    async succeed(subject, address) {
      const network = toNetwork(address);
      await Promise.all([
        pairs.delete(toKey(`${subject} ${network}`)),
        subjects?.reward(toKey(subject)),
        addresses.reward(toKey(network)),
      ]);
    },
  };
}
