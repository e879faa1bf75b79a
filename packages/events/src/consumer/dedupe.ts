/**
 * Remembers a bounded number of handled ids. That suffices for the duplicates of a restarted relay, which follow closely.
 * A consumer that must never handle an event twice stores the ids in its own database, together with the effect.
 */
export function createDedupe({ capacity = 100_000 }: { readonly capacity?: number } = {}) {
  const seen = new Set<string>();
  return {
    has: (eventId: string): boolean => seen.has(eventId),
    add(eventId: string): void {
      seen.delete(eventId);
      seen.add(eventId);
      // A Set iterates in insertion order, so the first id is the oldest.
      const [oldest] = seen.size > capacity ? seen : [];
      if (oldest !== undefined) seen.delete(oldest);
    },
    get size(): number {
      return seen.size;
    },
  };
}

/** Remembers the last so many event ids. */
export type Dedupe = ReturnType<typeof createDedupe>;
