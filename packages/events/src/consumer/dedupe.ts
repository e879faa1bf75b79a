/** Remembers the last so many event ids. */
export interface Dedupe {
  has(eventId: string): boolean;
  add(eventId: string): void;
  readonly size: number;
}

/**
 * Remembers a bounded number of handled ids. That suffices for the duplicates of a restarted relay, which follow closely.
 * A consumer that must never handle an event twice stores the ids in its own database, together with the effect.
 */
export function createDedupe({ capacity = 100_000 }: { readonly capacity?: number } = {}): Dedupe {
  const seen = new Set<string>();
  return {
    has: (eventId) => seen.has(eventId),
    add(eventId) {
      seen.delete(eventId);
      seen.add(eventId);
      // A Set iterates in insertion order, so the first id is the oldest.
      const [oldest] = seen.size > capacity ? seen : [];
      if (oldest !== undefined) seen.delete(oldest);
    },
    get size() {
      return seen.size;
    },
  };
}
