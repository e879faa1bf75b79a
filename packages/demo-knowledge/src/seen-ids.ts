const MAX_IDS = 100_000;

/** The ids of assertions that are still valid, so that none is used twice. */
export function createSeenIds(getTime: () => number = Date.now) {
  /** The expiry of each id, in seconds since the epoch, oldest first. */
  const seen = new Map<string, number>();

  function dropExpired(): void {
    const now = getTime() / 1_000;
    for (const [id, expiresAt] of seen) {
      if (expiresAt > now) return;
      seen.delete(id);
    }
  }

  return {
    /** @returns false for an id that was added before, and while more than can be remembered are valid. */
    add(id: string, expiresAt: number): boolean {
      dropExpired();
      if (seen.has(id) || seen.size >= MAX_IDS) return false;
      seen.set(id, expiresAt);
      return true;
    },
  };
}
