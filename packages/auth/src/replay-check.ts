import { AppError, type Clock } from '@platform/service-kit';

const MAX_REMEMBERED = 100_000;

/** Proofs of all clients together: no client is let through unchecked to make room. */
const tooMany = (): AppError =>
  new AppError({
    status: 503,
    code: 'TOO_MANY_PROOFS',
    message: 'Too many requests with proofs of possession: try again later',
    isReused: true,
  });

/** Remembers keys for a time, in memory that is bounded. Each call costs the same, however many there are. */
export function createReplayCheck({
  retentionMs,
  clock,
  max = MAX_REMEMBERED,
}: {
  readonly retentionMs: number;
  readonly clock: Clock;
  readonly max?: number;
}) {
  /** When each key can be forgotten. All are kept equally long, so the first one is the next to go. */
  const seen = new Map<string, number>();
  const full = tooMany();

  function forgetOld(now: number): void {
    for (const [key, until] of seen) {
      if (until > now) return;
      seen.delete(key);
    }
  }

  return {
    /**
     * Returns whether the key was not seen before, and remembers it.
     *
     * @throws AppError 503 when there is no room.
     */
    isFirst(key: string): boolean {
      const now = clock();
      forgetOld(now);
      if (seen.has(key)) return false;
      if (seen.size >= max) throw full;
      seen.set(key, now + retentionMs);
      return true;
    },
  };
}
