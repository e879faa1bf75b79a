/**
 * @param limits.total - permits of all keys together.
 * @param limits.perKey - permits of one key.
 */
export function createKeyedSemaphore(limits: { readonly total: number; readonly perKey: number }) {
  const heldByKey = new Map<string, number>();
  let total = 0;
  return {
    /** @returns whether a permit was acquired: false when the total or the key's share is used up. */
    tryAcquire(key: string): boolean {
      const held = heldByKey.get(key) ?? 0;
      if (total >= limits.total || held >= limits.perKey) return false;
      heldByKey.set(key, held + 1);
      total += 1;
      return true;
    },

    /** Returns a permit; to be called exactly once for each that was acquired. */
    release(key: string): void {
      const left = (heldByKey.get(key) ?? 0) - 1;
      if (left > 0) heldByKey.set(key, left);
      else heldByKey.delete(key);
      total -= 1;
    },
  };
}

/** Limits how many permits are held at once, in total and for each key. Nobody waits for a permit. */
export type KeyedSemaphore = ReturnType<typeof createKeyedSemaphore>;
