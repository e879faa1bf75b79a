/** The counters of a crawl. */
export const counterNames = ['items', 'deleted', 'failed', 'bytes'] as const;
export type Counters = Readonly<Record<(typeof counterNames)[number], number>>;

const add = (one = 0, other = 0): number => Math.min(Number.MAX_SAFE_INTEGER, one + other);

/** Adds counters; missing ones count as 0. */
export const addCounters = (one: Partial<Counters>, other: Partial<Counters>): Counters => ({
  items: add(one.items, other.items),
  deleted: add(one.deleted, other.deleted),
  failed: add(one.failed, other.failed),
  bytes: add(one.bytes, other.bytes),
});
