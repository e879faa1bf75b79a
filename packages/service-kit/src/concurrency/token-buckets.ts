import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.js';
import { tooManyRequests } from '../errors.js';

/** The number of buckets in memory, a few MB. Beyond that the least recently used one is dropped, and starts full again. */
const MAX_BUCKETS = 50_000;
const MINUTE_MS = 60_000;

interface Bucket {
  left: number;
  /** Milliseconds since the epoch. */
  countedAt: number;
}

/**
 * Counts a request.
 *
 * @param key - who makes it.
 * @throws AppError 429, which says when the next request is allowed.
 */
export type CountRequest = (key: string) => void;

/**
 * Limits requests by a token bucket for each key, in memory: the limit is that of one replica.
 *
 * @param perMinute - the requests that a full bucket allows, and those by which it refills in a minute.
 * @param message - the public message of the 429.
 */
export function createTokenBuckets(perMinute: number, clock: Clock, message?: string): CountRequest {
  const buckets = new LRUCache<string, Bucket>({ max: MAX_BUCKETS });
  return (key) => {
    const now = clock();
    let bucket = buckets.get(key);
    if (!bucket) {
      bucket = { left: perMinute, countedAt: now };
      buckets.set(key, bucket);
    }
    // A clock that was set back neither adds nor removes requests.
    const returned = (Math.max(0, now - bucket.countedAt) * perMinute) / MINUTE_MS;
    bucket.left = Math.min(perMinute, bucket.left + returned);
    bucket.countedAt = now;
    if (bucket.left < 1) throw tooManyRequests(((1 - bucket.left) * 60) / perMinute, message);
    bucket.left -= 1;
  };
}
