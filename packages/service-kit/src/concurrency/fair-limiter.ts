import { tooManyRequests } from '../errors.js';

/**
 * Lets an owner hold at most as much as remains free: one owner alone gets half of the capacity, two get a third each, and
 * so on. A new owner therefore always finds room, however many have unresponsive servers, and no share is reserved for
 * owners that are inactive (dynamic thresholds: Choudhury and Hahne, 1998).
 *
 * @param options - `maxPerOwner` limits one owner even when more is free.
 */
export function createFairLimiter(options: {
  readonly capacity: number;
  readonly maxPerOwner?: number;
  /** The message of the 429 error. */
  readonly message: string;
}) {
  const { capacity, maxPerOwner = capacity, message } = options;
  const held = new Map<string, number>();
  let total = 0;
  return {
    /** @throws AppError 429 when the owner would exceed its share. */
    acquire(owner: string, amount: number): void {
      const own = (held.get(owner) ?? 0) + amount;
      if (own > maxPerOwner || own > capacity - total) throw tooManyRequests(1, message);
      held.set(owner, own);
      total += amount;
    },
    release(owner: string, amount: number): void {
      const left = (held.get(owner) ?? 0) - amount;
      if (left > 0) held.set(owner, left);
      else held.delete(owner);
      total -= amount;
    },
  };
}

/** Limits a resource that all organisations share, such as mails in progress or bytes of memory. */
export type FairLimiter = ReturnType<typeof createFairLimiter>;
