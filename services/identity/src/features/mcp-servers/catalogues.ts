import { dependencyUnavailable } from '@platform/service-kit';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import type { Catalogue, ToolEntry } from '../mcp/catalogue.js';
import type { FindCatalogue } from '../mcp/endpoint.js';
import type { CatalogueVersions } from './catalogue-versions.js';
import { toMountedEntry } from './mounted-entry.js';
import { findMountedTools } from './tool.queries.js';
import type { CallUpstream } from './upstream/calls.js';

/** The memory for catalogues: definitions, and the lists made of them. */
const MAX_BYTES = 128 * 1_048_576;
/** A definition is kept as an object, as JSON, and in the lists of several sets of scopes. */
const COPIES = 8;

interface CachedCatalogue {
  readonly version: number;
  readonly catalogue: Catalogue;
  readonly bytes: number;
}

/** Caches the tools of organisations in memory. A change is loaded with one query, by the first request after it. */
export function createCatalogues(deps: {
  readonly pool: pg.Pool;
  readonly versions: Pick<CatalogueVersions, 'get'>;
  readonly callUpstream: CallUpstream;
}): FindCatalogue {
  const { pool, versions, callUpstream } = deps;
  const cached = new LRUCache<string, CachedCatalogue>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ bytes }) => Math.max(1, bytes),
  });
  const loading = new Map<string, Promise<CachedCatalogue>>();

  async function load(orgId: string, extend: Parameters<FindCatalogue>[1]): Promise<CachedCatalogue> {
    const { version, rows } = await findMountedTools(pool, orgId).catch((error: unknown) => {
      throw dependencyUnavailable('database', error);
    });
    const entries = rows
      .map((row) => toMountedEntry(row, callUpstream))
      .filter((entry): entry is ToolEntry => entry !== undefined);
    const bytes = COPIES * entries.reduce((sum, { json }) => sum + json.length, 0);
    const made = { version, catalogue: extend(entries), bytes };
    cached.set(orgId, made);
    return made;
  }

  /** Loads until the version is at least the one that a request has seen: a load may have begun before the change. */
  async function loadVersion(orgId: string, version: number, extend: Parameters<FindCatalogue>[1]) {
    for (;;) {
      let current = loading.get(orgId);
      if (!current) {
        current = load(orgId, extend).finally(() => loading.delete(orgId));
        loading.set(orgId, current);
      }
      const found = await current;
      if (found.version >= version) return found.catalogue;
    }
  }

  return (orgId, extend) => {
    const version = versions.get(orgId);
    if (version === undefined) return undefined;
    const known = cached.get(orgId);
    return known && known.version >= version ? known.catalogue : loadVersion(orgId, version, extend);
  };
}
