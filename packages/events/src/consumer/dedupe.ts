/** Remembers the last so many event ids. */
export interface Dedupe {
  has(eventId: string): boolean;
  add(eventId: string): void;
  readonly size: number;
}

/**
 * Bounded memory of what was handled: enough for the doubles that a restarted relay makes, which follow closely. A
 * consumer that must never handle an event twice keeps the ids in its own database, beside the effect.
 */
export function createDedupe({ capacity = 100_000 }: { readonly capacity?: number } = {}): Dedupe {
  const seen = new Set<string>();
  return {
    has: (eventId) => seen.has(eventId),
    add(eventId) {
      seen.delete(eventId);
      seen.add(eventId);
      // A Set iterates in the order of insertion: the first is the oldest.
      const [oldest] = seen.size > capacity ? seen : [];
      if (oldest !== undefined) seen.delete(oldest);
    },
    get size() {
      return seen.size;
    },
  };
}
