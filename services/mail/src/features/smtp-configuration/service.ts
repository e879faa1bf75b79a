import type { Clock } from '@platform/service-kit';
import { LRUCache } from 'lru-cache';
import { readSmtpConfiguration, type SmtpConfiguration } from './configuration.js';
import { configurationIncomplete, configurationNotSet } from './errors.js';
import type { FetchConfiguration } from './manager-client.js';

interface CachedConfiguration {
  /** Undefined when there is no configuration, or when it is incomplete. */
  readonly configuration: SmtpConfiguration | undefined;
  readonly fetchedAt: number;
  /** The number of the fetch that returned it. A slow fetch never replaces the result of a later one. */
  readonly fetch: number;
}

/** An entry takes about 1 KiB. */
const MAX_CACHED = 10_000;

export function createSmtpConfigurations(deps: {
  readonly fetch: FetchConfiguration;
  readonly clock: Clock;
  /**
   * The time for which a cached configuration is used. It bounds how late `updateSmtpConfig` in another replica takes
   * effect here.
   */
  readonly maxAgeMs: number;
}) {
  const known = new LRUCache<string, CachedConfiguration>({ max: MAX_CACHED });
  const inProgress = new Map<string, Promise<SmtpConfiguration>>();
  let fetches = 0;

  function remember(orgId: string, entry: CachedConfiguration): void {
    const present = known.peek(orgId);
    if (!present || present.fetch < entry.fetch) known.set(orgId, entry);
  }

  async function reload(orgId: string, requestId?: string): Promise<SmtpConfiguration> {
    fetches += 1;
    const fetch = fetches;
    const raw = await deps.fetch(orgId, requestId);
    const configuration = readSmtpConfiguration(raw);
    remember(orgId, { configuration, fetchedAt: deps.clock(), fetch });
    if (raw === undefined) throw configurationNotSet();
    if (!configuration) throw configurationIncomplete();
    return configuration;
  }

  /** Fetches once per organisation, however many mails wait for it. */
  function reloadOnce(orgId: string, requestId?: string): Promise<SmtpConfiguration> {
    const present = inProgress.get(orgId);
    if (present) return present;
    const fetching = reload(orgId, requestId).finally(() => inProgress.delete(orgId));
    inProgress.set(orgId, fetching);
    return fetching;
  }

  return {
    /** Fetches the configuration and replaces the cached one. @throws AppError 404, 400 or 503, without using the cache. */
    reload,

    /**
     * Returns the organisation's configuration, from the cache while it is fresh.
     *
     * @throws AppError 404 when there is none, 400 when it is incomplete, 503 when the configuration manager is unavailable
     *   and nothing is cached.
     */
    async get(orgId: string, requestId?: string): Promise<SmtpConfiguration> {
      const entry = known.get(orgId);
      // A missing configuration is never served from the cache, so that a new one takes effect without a reload.
      if (!entry?.configuration) return reloadOnce(orgId, requestId);
      if (deps.clock() - entry.fetchedAt < deps.maxAgeMs) return entry.configuration;
      try {
        return await reloadOnce(orgId, requestId);
      } catch (error) {
        // Mails continue while the manager is unavailable. A 404 or 400 from it takes effect at once.
        if ((error as { statusCode?: number }).statusCode === 503) return entry.configuration;
        throw error;
      }
    },
  };
}

export type SmtpConfigurations = ReturnType<typeof createSmtpConfigurations>;
