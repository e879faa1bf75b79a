import { tooManyRequests } from '@platform/service-kit';

/** Bounds something that all organisations use: places of mails under way, or bytes of memory. */
export interface FairLimiter {
  /** @throws AppError 429. */
  acquire(owner: string, amount: number): void;
  release(owner: string, amount: number): void;
}

/**
 * An owner holds at most as much as is left for all others: alone half of it, two of them a third each, and so on. So
 * whoever comes anew finds room, however many have stuck servers, and no share lies idle for those who aren't there
 * (dynamic thresholds: Choudhury and Hahne, 1998).
 *
 * @param maxPerOwner - for one owner, however much is left.
 */
export function createFairLimiter(options: {
  readonly capacity: number;
  readonly maxPerOwner?: number;
  /** What a refusal says. */
  readonly message: string;
}): FairLimiter {
  const { capacity, maxPerOwner = capacity, message } = options;
  const held = new Map<string, number>();
  let total = 0;
  return {
    acquire(owner, amount) {
      const own = (held.get(owner) ?? 0) + amount;
      if (own > maxPerOwner || own > capacity - total) throw tooManyRequests(1, message);
      held.set(owner, own);
      total += amount;
    },
    release(owner, amount) {
      const left = (held.get(owner) ?? 0) - amount;
      if (left > 0) held.set(owner, left);
      else held.delete(owner);
      total -= amount;
    },
  };
}
