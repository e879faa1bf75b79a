import { type Clock, tooManyRequests } from '@platform/service-kit';

const MAX_REMEMBERED = 100_000;
const MESSAGE = 'Too many requests with proofs of possession: try again later';

/**
 * Remembers keys for a time, in memory that is bounded. No key is forgotten early to make room. A holder may have as many
 * keys as there is room left for others: one that floods gets half of the room, two get a third each, and there is always
 * room for one more. Each call costs the same, however many keys there are.
 */
export function createReplayCheck({
  retentionMs,
  clock,
  max = MAX_REMEMBERED,
}: {
  readonly retentionMs: number;
  readonly clock: Clock;
  readonly max?: number;
}) {
  /** The keys in the order in which they expire, because all are kept equally long. */
  const seen = new Map<string, { readonly holder: string; readonly expiresAt: number }>();
  const countOfHolder = new Map<string, number>();

  function addToCount(holder: string, change: 1 | -1): void {
    const count = (countOfHolder.get(holder) ?? 0) + change;
    if (count > 0) countOfHolder.set(holder, count);
    else countOfHolder.delete(holder);
  }

  function forgetExpired(now: number): void {
    for (const [key, { holder, expiresAt }] of seen) {
      if (expiresAt > now) return;
      seen.delete(key);
      addToCount(holder, -1);
    }
  }

  /** Returns in how many milliseconds the oldest key expires. */
  function findNextExpiry(now: number): number {
    const [oldest] = seen.values();
    return oldest === undefined ? 0 : oldest.expiresAt - now;
  }

  return {
    /**
     * Returns whether the key was not seen before, and remembers it.
     *
     * @throws AppError 429 when the holder has no room for it.
     */
    isFirst(holder: string, key: string): boolean {
      const now = clock();
      forgetExpired(now);
      if (seen.has(key)) return false;
      if ((countOfHolder.get(holder) ?? 0) >= max - seen.size)
        throw tooManyRequests(findNextExpiry(now) / 1_000, MESSAGE);
      seen.set(key, { holder, expiresAt: now + retentionMs });
      addToCount(holder, 1);
      return true;
    },
  };
}
