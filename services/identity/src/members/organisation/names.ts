import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { findOrganisationName } from './organisation.sql.js';

/** A stale name is harmless, because names aren't used for authorisation and rarely change. */
const MAX_AGE_MS = 60_000;
const MAX_NAMES = 1_000;

/** Returns a cached lookup of an organisation's name; empty when there is no such organisation. */
export function createFindOrganisationName(pool: pg.Pool): (id: string) => Promise<string> {
  const names = new LRUCache<string, string>({
    max: MAX_NAMES,
    ttl: MAX_AGE_MS,
    fetchMethod: (id) => findOrganisationName(pool, id),
  });
  return async (id) => (await names.fetch(id)) ?? '';
}
