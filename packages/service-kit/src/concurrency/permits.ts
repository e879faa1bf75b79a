export interface PermitLimits {
  /** What all keys can hold together. */
  readonly total: number;
  /** What one key can hold, by default the total. */
  readonly perKey?: number;
  /**
   * Whether a key can hold at most as much as remains free: one key alone gets half of the total, two get a third each, and
   * so on. A new key therefore always finds room, however much the others hold for long, and no share is reserved for
   * keys that hold nothing (dynamic thresholds: Choudhury and Hahne, 1998).
   */
  readonly isFair?: boolean;
}

/** Limits how much is held at once, such as calls in progress or bytes of memory. Nobody waits for a permit. */
export function createPermits({ total, perKey = total, isFair = false }: PermitLimits) {
  const heldByKey = new Map<string, number>();
  let held = 0;

  /** @returns whether the key holds the amount now: false, and nothing more is held, when a limit would be exceeded. */
  function tryAcquire(key: string, amount = 1): boolean {
    const ofKey = (heldByKey.get(key) ?? 0) + amount;
    const free = total - held;
    if (amount > free || ofKey > perKey || (isFair && ofKey > free)) return false;
    if (ofKey > 0) heldByKey.set(key, ofKey);
    held += amount;
    return true;
  }

  /** Returns what was acquired. */
  function release(key: string, amount = 1): void {
    const left = (heldByKey.get(key) ?? 0) - amount;
    if (left > 0) heldByKey.set(key, left);
    else heldByKey.delete(key);
    held -= amount;
  }

  return {
    tryAcquire,
    release,

    /** Runs work that holds one permit. @throws the error that `refuse` returns, before the work begins. */
    async run<T>(key: string, work: () => Promise<T>, refuse: () => Error): Promise<T> {
      if (!tryAcquire(key)) throw refuse();
      try {
        return await work();
      } finally {
        release(key);
      }
    },
  };
}

export type Permits = ReturnType<typeof createPermits>;
