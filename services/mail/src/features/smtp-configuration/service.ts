import type { Clock } from '@platform/service-kit';
import { LRUCache } from 'lru-cache';
import { readSmtpConfiguration, type SmtpConfiguration } from './configuration.js';
import { configurationIncomplete, configurationNotSet } from './errors.js';
import type { FetchConfiguration } from './manager.js';

export interface SmtpConfigurations {
  /**
   * The organisation's configuration, from memory while it is fresh.
   *
   * @throws AppError 404 when there is none, 400 when it is incomplete, 503 when that can't be known.
   */
  get(orgId: string, requestId?: string): Promise<SmtpConfiguration>;
  /** As `get`, but always asks the configuration manager, and later mails use what it said. */
  reload(orgId: string, requestId?: string): Promise<SmtpConfiguration>;
}

interface CachedConfiguration {
  /** Undefined: the configuration manager said that there is none, or that it is incomplete. */
  readonly configuration: SmtpConfiguration | undefined;
  readonly fetchedAt: number;
  /** Which fetch it came from; a slow fetch never replaces what a later one brought. */
  readonly fetch: number;
}

/** About 1 KiB each. */
const MAX_CACHED = 10_000;

export function createSmtpConfigurations(deps: {
  readonly fetch: FetchConfiguration;
  readonly clock: Clock;
  /** How long another replica's `updateSmtpConfig`, which this one never hears of, may take to be seen here. */
  readonly maxAgeMs: number;
}): SmtpConfigurations {
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

  /** One fetch per organisation however many mails wait for it. */
  function reloadOnce(orgId: string, requestId?: string): Promise<SmtpConfiguration> {
    const present = inProgress.get(orgId);
    if (present) return present;
    const fetching = reload(orgId, requestId).finally(() => inProgress.delete(orgId));
    inProgress.set(orgId, fetching);
    return fetching;
  }

  return {
    reload,
    async get(orgId, requestId) {
      const entry = known.get(orgId);
      // "There is none" is never remembered: setting one up needs no second step.
      if (!entry?.configuration) return reloadOnce(orgId, requestId);
      if (deps.clock() - entry.fetchedAt < deps.maxAgeMs) return entry.configuration;
      try {
        return await reloadOnce(orgId, requestId);
      } catch (error) {
        // The manager is away: mail goes on as before. Its "no" counts at once.
        if ((error as { statusCode?: number }).statusCode === 503) return entry.configuration;
        throw error;
      }
    },
  };
}
