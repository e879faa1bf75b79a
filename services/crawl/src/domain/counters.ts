/** What a crawl has counted. */
export const counterNames = ['items', 'deleted', 'failed', 'bytes'] as const;
export type Counters = Readonly<Record<(typeof counterNames)[number], number>>;

/** Adds counters; those that are not given count as 0. */
export const addCounters = (one: Partial<Counters>, other: Partial<Counters>): Counters => ({
  items: (one.items ?? 0) + (other.items ?? 0),
  deleted: (one.deleted ?? 0) + (other.deleted ?? 0),
  failed: (one.failed ?? 0) + (other.failed ?? 0),
  bytes: (one.bytes ?? 0) + (other.bytes ?? 0),
});
