import { type Clock, tooManyRequests } from '@platform/service-kit';
import { LRUCache } from 'lru-cache';

/** Credentials remembered, a few MB; past that the longest unused is forgotten, and may begin anew. */
const MAX_CREDENTIALS = 50_000;
const MINUTE_MS = 60_000;

/** Requests that a credential may make now; they come back with time, up to a minute's. */
interface Allowance {
  left: number;
  /** Milliseconds since the epoch. */
  countedAt: number;
}

/**
 * Counts a request of a credential.
 *
 * @throws AppError 429, which says when the next request is allowed.
 */
export type CountRequest = (credentialId: string) => void;

/** A token bucket for each credential, in memory: the limit is that of one replica. */
export function createRequestLimit(perMinute: number, clock: Clock): CountRequest {
  const allowances = new LRUCache<string, Allowance>({ max: MAX_CREDENTIALS });
  return (credentialId) => {
    const now = clock();
    let allowance = allowances.get(credentialId);
    if (!allowance) {
      allowance = { left: perMinute, countedAt: now };
      allowances.set(credentialId, allowance);
    }
    // A clock that was set back gives nothing, and takes nothing.
    const returned = (Math.max(0, now - allowance.countedAt) * perMinute) / MINUTE_MS;
    allowance.left = Math.min(perMinute, allowance.left + returned);
    allowance.countedAt = now;
    if (allowance.left < 1) {
      const waitMs = ((1 - allowance.left) * MINUTE_MS) / perMinute;
      throw tooManyRequests(waitMs / 1_000, 'Too many requests of this credential');
    }
    allowance.left -= 1;
  };
}
