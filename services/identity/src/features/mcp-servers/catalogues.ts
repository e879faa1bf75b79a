import { dependencyUnavailable } from '@platform/service-kit';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import type { Catalogue, ToolEntry } from '../mcp/catalogue.js';
import type { FindCatalogue } from '../mcp/endpoint.js';
import type { CatalogueVersions, SeenVersion } from '../liveness/catalogue-versions.js';
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
  readonly versions: Pick<CatalogueVersions, 'get' | 'settle'>;
  readonly callUpstream: CallUpstream;
}): FindCatalogue {
  const { pool, versions, callUpstream } = deps;
  const cached = new LRUCache<string, CachedCatalogue>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ bytes }) => Math.max(1, bytes),
  });
  const loading = new Map<string, Promise<CachedCatalogue>>();

  async function load(orgId: string, extend: Parameters<FindCatalogue>[1]): Promise<CachedCatalogue> {
    const seen = versions.get(orgId);
    const { version, rows } = await findMountedTools(pool, orgId).catch((error: unknown) => {
      throw dependencyUnavailable('database', error);
    });
    const entries = rows
      .map((row) => toMountedEntry(row, callUpstream))
      .filter((entry): entry is ToolEntry => entry !== undefined);
    const bytes = COPIES * entries.reduce((sum, { json }) => sum + json.length, 0);
    const made = { version, catalogue: extend(entries), bytes };
    cached.set(orgId, made);
    versions.settle(orgId, seen, version);
    return made;
  }

  const isCurrent = (known: CachedCatalogue, { version, isDoubted }: SeenVersion): boolean =>
    known.version >= version && !isDoubted;

  /**
   * A load that is under way may have begun before the change that a request has seen. One that began after the request
   * is good whatever its version: where the database was restored, versions go backwards.
   */
  async function loadVersion(orgId: string, seen: SeenVersion, extend: Parameters<FindCatalogue>[1]) {
    const earlier = await loading.get(orgId);
    if (earlier && isCurrent(earlier, seen)) return earlier.catalogue;
    let current = loading.get(orgId);
    if (!current) {
      current = load(orgId, extend).finally(() => loading.delete(orgId));
      loading.set(orgId, current);
    }
    return (await current).catalogue;
  }

  return (orgId, extend) => {
    const seen = versions.get(orgId);
    if (!seen) return undefined;
    const known = cached.get(orgId);
    return known && isCurrent(known, seen) ? known.catalogue : loadVersion(orgId, seen, extend);
  };
}
