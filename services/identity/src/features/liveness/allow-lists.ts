import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { type CompiledList, compileList } from '../allow-lists/compiled-list.js';
import { findAllowLists } from './queries.js';

/** About 100 bytes each; equal lists share their ranges. */
const MAX_KNOWN = 20_000;

/** The allow list of a token or of an organisation, as a liveness check found it. */
export interface NeededList {
  readonly holder: 'token' | 'organisation';
  readonly id: string;
  readonly hash: string;
}

/** Null for a list that was emptied since its hash was read: it allows every address. */
export type LoadedList = CompiledList | null;

/**
 * Keeps the allow lists of tokens and organisations. Each liveness check reads their hashes, so that a changed list takes
 * effect with the next request.
 *
 * @returns a function that returns the lists by the id of their holder, none for a holder that was deleted.
 */
export function createAllowLists(pool: pg.Pool) {
  const known = new LRUCache<string, { readonly hash: string; readonly list: LoadedList }>({
    max: MAX_KNOWN,
  });

  return async (needed: readonly NeededList[]): Promise<ReadonlyMap<string, LoadedList>> => {
    const lists = new Map<string, LoadedList>();
    if (needed.length === 0) return lists;
    const missing = needed.filter(({ id, hash }) => {
      const stored = known.get(id);
      if (stored?.hash !== hash) return true;
      lists.set(id, stored.list);
      return false;
    });
    if (missing.length === 0) return lists;
    const getIds = (holder: NeededList['holder']) =>
      missing.filter((list) => list.holder === holder).map(({ id }) => id);
    for (const { id, hash, ranges } of await findAllowLists(pool, getIds('token'), getIds('organisation'))) {
      const list = ranges === '' ? null : compileList(ranges);
      known.set(id, { hash, list });
      lists.set(id, list);
    }
    return lists;
  };
}
