import { createBatcher } from '@platform/service-kit';
import type pg from 'pg';
import type { JournalEntry } from './entry.js';
import { type EarlierKey, findByKeys, insertEntries } from './queries.js';

/** Creates the batched statements that concurrent requests share: the insert of entries, and the look-up of keys. */
export function createEntryBatches(pool: pg.Pool, senderId: string) {
  const insertBatched = createBatcher({
    toKey: (entry: JournalEntry) => entry.id,
    async load(entries) {
      const written = await insertEntries(pool, senderId, entries);
      return entries.map(({ id }) => written.has(id));
    },
    maxBatch: 200,
    // Entries that arrive during a write form the next batch, because few large commits cost less than many small ones.
    maxInFlight: 1,
  });

  const findBatched = createBatcher({
    toKey: ({ orgId, key }: EarlierKey) => `${orgId} ${key}`,
    load: (keys) => findByKeys(pool, keys),
    maxBatch: 200,
    maxInFlight: 2,
  });

  return { insertBatched, findBatched };
}
