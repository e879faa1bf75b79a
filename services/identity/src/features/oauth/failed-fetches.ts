import type { Clock } from '@platform/service-kit';
import { LRUCache } from 'lru-cache';
import type { FetchDocument } from './document-fetch.js';

/** How long a document that could not be fetched is not asked for again. */
const RETRY_AFTER_MS = 30_000;
/** How many fetches of one host may fail in that time. */
const MAX_FAILURES_OF_HOST = 20;
const MAX_REMEMBERED = 1_000;

interface HostWindow {
  /** Fetches that have failed, or are under way. */
  failures: number;
  readonly endsAt: number;
}

/**
 * Fails at once for an address whose last fetch has just failed, and for every new address of a host after too many
 * failures. Anyone can send a browser to any address of an allowed host, and each such request would reach that host.
 * Addresses that had a document are still fetched then, so that nobody can keep known clients out. What was fetched is
 * cached by the provider.
 */
export function rememberFailures(fetch: FetchDocument, clock: Clock): FetchDocument {
  const retryAt = new LRUCache<string, number>({ max: MAX_REMEMBERED });
  const fetched = new LRUCache<string, true>({ max: MAX_REMEMBERED });
  const windows = new LRUCache<string, HostWindow>({ max: MAX_REMEMBERED });

  function getWindow(host: string): HostWindow {
    const current = windows.get(host);
    if (current && clock() < current.endsAt) return current;
    const next = { failures: 0, endsAt: clock() + RETRY_AFTER_MS };
    windows.set(host, next);
    return next;
  }

  return async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    const { host } = new URL(url);
    const ofHost = getWindow(host);
    const isHostSpared = ofHost.failures >= MAX_FAILURES_OF_HOST && !fetched.has(url);
    if (isHostSpared || clock() < (retryAt.get(url) ?? 0))
      throw new Error(`${host} did not answer with a document a moment ago`);
    ofHost.failures += 1;
    let isFetched = false;
    try {
      const response = await fetch(input, init);
      isFetched = response.status === 200;
      return response;
    } finally {
      if (isFetched) {
        ofHost.failures -= 1;
        fetched.set(url, true);
        retryAt.delete(url);
      } else retryAt.set(url, clock() + RETRY_AFTER_MS);
    }
  };
}
