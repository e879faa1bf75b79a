import { coalesce } from '@platform/auth';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { findOrganisationNames } from './queries.js';

const BATCH_MAX = 500;
const BATCHES_AT_ONCE_MAX = 2;
/** Names decide nothing, and hardly ever change: one may be so old. */
const KEPT_MS = 60_000;
const KEPT_MAX = 1_000;

/** The name of an organisation; the questions of one event-loop turn are one statement. */
export function createFindOrganisationName(pool: pg.Pool): (id: string) => Promise<string> {
  const kept = new LRUCache<string, string>({ max: KEPT_MAX, ttl: KEPT_MS });
  const find = coalesce<string, string>({
    keyOf: (id) => id,
    async ask(ids) {
      const names = new Map((await findOrganisationNames(pool, ids)).map(({ id, name }) => [id, name]));
      return ids.map((id) => names.get(id) ?? '');
    },
    batchMax: BATCH_MAX,
    inFlightMax: BATCHES_AT_ONCE_MAX,
  });
  return async (id) => {
    const known = kept.get(id);
    if (known !== undefined) return known;
    const name = await find(id);
    kept.set(id, name);
    return name;
  };
}
