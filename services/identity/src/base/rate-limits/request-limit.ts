import type { AccountPrincipal } from '@platform/auth';
import { type Clock, tooManyRequests } from '@platform/service-kit';
import { LRUCache } from 'lru-cache';

/** The number of buckets in memory, a few MB. Beyond that the least recently used one is dropped, and starts full again. */
const MAX_CREDENTIALS = 50_000;
const MINUTE_MS = 60_000;

/** The token bucket of a credential, which refills over time up to the requests of a minute. */
interface Allowance {
  left: number;
  /** Milliseconds since the epoch. */
  countedAt: number;
}

/**
 * Returns the key that limits of a credential count by. An OAuth client renews its access tokens, so it is counted as one
 * for each account that it acts for.
 */
export const toLimitKey = ({
  credentialId,
  clientId,
  userId,
}: Pick<AccountPrincipal, 'credentialId' | 'clientId' | 'userId'>): string =>
  clientId === undefined ? credentialId : `${clientId} ${userId}`;

/**
 * Counts a request of a credential.
 *
 * @throws AppError 429, which says when the next request is allowed.
 */
export type CountRequest = (limitKey: string) => void;

/** A token bucket for each credential, in memory: the limit is that of one replica. */
export function createRequestLimit(
  perMinute: number,
  clock: Clock,
  message = 'Too many requests of this credential',
): CountRequest {
  const allowances = new LRUCache<string, Allowance>({ max: MAX_CREDENTIALS });
  return (limitKey) => {
    const now = clock();
    let allowance = allowances.get(limitKey);
    if (!allowance) {
      allowance = { left: perMinute, countedAt: now };
      allowances.set(limitKey, allowance);
    }
    // A clock that was set back neither adds nor removes requests.
    const returned = (Math.max(0, now - allowance.countedAt) * perMinute) / MINUTE_MS;
    allowance.left = Math.min(perMinute, allowance.left + returned);
    allowance.countedAt = now;
    if (allowance.left < 1) {
      const waitMs = ((1 - allowance.left) * MINUTE_MS) / perMinute;
      throw tooManyRequests(waitMs / 1_000, message);
    }
    allowance.left -= 1;
  };
}
