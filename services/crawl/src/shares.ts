import { type TakeTurn, WaitingLine, type WaitingLimits } from './waiting-line.js';

/**
 * Shares a number of places among keys, within this process. A key may take one more while it has
 * fewer than are free: alone it gets half of them, the next one half of the rest, so that places are
 * left for keys to come (dynamic thresholds; Choudhury and Hahne, IEEE/ACM ToN 6(2), 1998). Of nine
 * places four keys can hold all: 5, 2, 1 and 1. Who waits is served in turn, by key.
 */
export function createShares({ places, ...limits }: WaitingLimits & { readonly places: number }): TakeTurn {
  let free = places;
  const held = new Map<string, number>();
  /** In the order of their turns; none is empty for longer than until it is come to. */
  const lines = new Map<string, WaitingLine>();

  const mayTake = (key: string): boolean => (held.get(key) ?? 0) < free;

  function take(key: string): void {
    held.set(key, (held.get(key) ?? 0) + 1);
    free -= 1;
  }

  /** Passes over as many keys as there are places at the most: who may not take one holds one. */
  function callNext(): boolean {
    if (free === 0) return false;
    for (const [key, line] of lines) {
      if (!mayTake(key)) continue;
      lines.delete(key);
      if (!line.callNext()) continue;
      take(key);
      if (!line.isEmpty) lines.set(key, line);
      return true;
    }
    return false;
  }

  function leave(key: string): void {
    const left = (held.get(key) ?? 0) - 1;
    if (left === 0) held.delete(key);
    else held.set(key, left);
    free += 1;
    while (callNext());
  }

  async function enter(key: string): Promise<void> {
    const line = lines.get(key);
    // Nobody overtakes those of its own key.
    if (mayTake(key) && (!line || line.isEmpty)) {
      take(key);
      return;
    }
    const own = line ?? new WaitingLine(limits);
    lines.set(key, own);
    await own.wait();
  }

  return async (key, work) => {
    await enter(key);
    try {
      return await work();
    } finally {
      leave(key);
    }
  };
}
