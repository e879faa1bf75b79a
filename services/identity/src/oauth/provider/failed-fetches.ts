import type { Clock } from '@platform/service-kit';
import { LRUCache } from 'lru-cache';
import type { FetchDocument } from './document-fetch.js';

/** The time after a failed fetch in which the document is not requested again. */
const RETRY_AFTER_MS = 30_000;
const MAX_REMEMBERED = 1_000;

/**
 * Fails at once for an address whose last fetch has just failed. Anyone can send a browser to an address of an allowed
 * host, and each such request would reach that host. What was fetched is cached by the provider.
 */
export function rememberFailures(fetch: FetchDocument, clock: Clock): FetchDocument {
  const retryAt = new LRUCache<string, number>({ max: MAX_REMEMBERED });
  return async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    if (clock() < (retryAt.get(url) ?? 0))
      throw new Error(`${new URL(url).host} did not answer with a document a moment ago`);
    let isFetched = false;
    try {
      const response = await fetch(input, init);
      isFetched = response.status === 200;
      return response;
    } finally {
      if (isFetched) retryAt.delete(url);
      else retryAt.set(url, clock() + RETRY_AFTER_MS);
    }
  };
}
