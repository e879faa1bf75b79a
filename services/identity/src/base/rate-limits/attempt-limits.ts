import { tooManyRequests } from '@platform/service-kit';
import type pg from 'pg';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { toNetwork } from '../network.js';
import { toKey } from './key.js';

/*
 * Limits attempts at endpoints that are open to everyone. The counts are in PostgreSQL, so that all replicas share them;
 * rate-limiter-flexible increments and checks a count atomically, in one statement.
 */
const WINDOW_SECONDS = 15 * 60;

/** The unit that is limited: an IPv4 address, or the /64 of an IPv6 address, which one client controls whole. */
const CLIENT_PREFIX = { ipv4: 32, ipv6: 64 } as const;

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

export interface AttemptLimitOptions {
  /** A prefix of the stored keys. Limiters with different names count separately. */
  readonly name: string;
  /** The limit of all networks together at one subject. Leave it out where strangers could lock the owner out with it. */
  readonly perSubject?: number;
  /** The limit of one network at one subject. */
  readonly perPair: number;
  readonly perAddress: number;
  /** The public message of the 429. */
  readonly message: string;
}

/** Creates a limiter whose limits all apply to a window of 15 minutes. */
export function createAttemptLimits(pool: pg.Pool, options: AttemptLimitOptions) {
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
    /**
     * Counts an attempt before it is made, so that concurrent attempts get no extra guesses.
     *
     * @param subject - the e-mail address or link token that is tried.
     * @param isKnown - called when the limit of the subject is reached: a client from which its owner has signed in
     *   before is subject to the limit of the pair only.
     * @throws AppError 429.
     */
    async begin(
      subject: string,
      address: string,
      isKnown: () => Promise<boolean> = () => Promise.resolve(false),
    ): Promise<void> {
      const network = toNetwork(address, CLIENT_PREFIX);
      await consume(addresses, toKey(network));
      await consume(pairs, toKey(`${subject} ${network}`));
      if (!subjects) return;
      try {
        await consume(subjects, toKey(subject));
      } catch (refusal) {
        if (!(await isKnown())) throw refusal;
      }
    },

    /** Records a success: takes the attempt back and resets the failures of this network at this subject. */
    async succeed(subject: string, address: string): Promise<void> {
      const network = toNetwork(address, CLIENT_PREFIX);
      await Promise.all([
        pairs.delete(toKey(`${subject} ${network}`)),
        subjects?.reward(toKey(subject)),
        addresses.reward(toKey(network)),
      ]);
    },
  };
}

export type AttemptLimits = ReturnType<typeof createAttemptLimits>;
