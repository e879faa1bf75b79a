import { type Clock, createBatcher, dependencyUnavailable, stringifyJson } from '@platform/service-kit';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { toToolKey } from '../../credentials/bounds/bounds.js';
import type { Catalogue, ToolEntry } from '../endpoint/catalogue.js';
import type { FindCatalogue } from '../endpoint/endpoint.js';
import { type CrawlAge, findCrawlAges } from '../../facts/crawl-ages.js';
import { withAges } from './ages.js';
import { parseDefinition } from './definition.js';
import { getEffectiveScope } from './gate.js';
import { toMountedName } from '../../base/mounted-name.js';
import {
  type CatalogueCaller,
  findCatalogueStates,
  findMountedTools,
  type MountedRow,
} from './catalogue.sql.js';
import type { CallUpstream } from './upstream/calls.js';

/** The memory for catalogues: definitions, and the lists made of them. */
const MAX_BYTES = 128 * 1_048_576;
/** A definition is kept as an object, as JSON, and in the lists of several sets of scopes. */
const COPIES = 8;
/** Versions are read in one statement for the requests of an event-loop turn. */
const MAX_BATCH = 500;
const MAX_IN_FLIGHT = 2;

interface CachedCatalogue {
  readonly version: number;
  readonly catalogue: Catalogue;
  readonly bytes: number;
}

interface MountedToolDeps {
  readonly callUpstream: CallUpstream;
  readonly findAges: (orgId: string, connectors: readonly string[]) => Promise<readonly CrawlAge[]>;
  readonly clock: Clock;
}

/**
 * Makes a tool in effect listable and callable. What an administrator has mapped it to decides whether it only reads;
 * the server's other hints are passed on, because they were approved with the definition.
 *
 * @returns undefined for a tool that is hidden.
 */
function toMountedEntry(
  row: MountedRow,
  { callUpstream, findAges, clock }: MountedToolDeps,
): ToolEntry | undefined {
  const { toolName, rules, definition: json, serverGroups, toolGroups, connectors, ...server } = row;
  const scope = getEffectiveScope(toolName, row.scope, rules);
  if (scope === undefined) return undefined;
  const name = toMountedName(server.name, toolName);
  const definition = parseDefinition(json);
  const readOnlyHint = scope === 'kb:read';
  const hints = definition.annotations;
  const annotations = {
    ...(hints?.title !== undefined && { title: hints.title }),
    readOnlyHint,
    destructiveHint: hints?.destructiveHint ?? !readOnlyHint,
    idempotentHint: hints?.idempotentHint ?? readOnlyHint,
    openWorldHint: hints?.openWorldHint ?? true,
  };
  return {
    tool: { name, scopes: [scope], isAdminOnly: false, annotations },
    key: toToolKey(server.id, toolName),
    serverId: server.id,
    connectors,
    audiences: [serverGroups, toolGroups].filter((groups) => groups !== null),
    json: stringifyJson({ ...definition, name, annotations }),
    knowledge: { server: server.name, connectors },
    // The server checks the arguments: the platform compiles no schema that a foreign server wrote.
    check: () => [],
    async call(args, context) {
      const passed = await callUpstream({ server, toolName, scope, definition }, args, context);
      if (connectors.length === 0) return { passed };
      // What the tool has done is done, whether or not its age can be read.
      const ages = await findAges(server.orgId, connectors).catch(() => undefined);
      return { passed: ages ? withAges(passed, connectors, ages, clock()) : passed };
    },
  };
}

/** Caches the tools of organisations in memory. A change is loaded with one query, by the first request after it. */
export function createCatalogues(deps: {
  readonly pool: pg.Pool;
  readonly callUpstream: CallUpstream;
  readonly clock: Clock;
}): FindCatalogue {
  const { pool } = deps;
  const toolDeps: MountedToolDeps = {
    ...deps,
    findAges: (orgId, connectors) => findCrawlAges(pool, orgId, connectors),
  };
  const cached = new LRUCache<string, CachedCatalogue>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ bytes }) => Math.max(1, bytes),
  });
  /** By organisation and version. */
  const loading = new Map<string, Promise<CachedCatalogue>>();

  // Every request reads the version, so that a change takes effect with the next request at every replica; and the groups of
  // the caller in the same statement, so that both are of one moment.
  const findState = createBatcher({
    toKey: ({ userId }: CatalogueCaller) => userId,
    load: (callers) => findCatalogueStates(pool, callers).catch(failUnavailable),
    maxBatch: MAX_BATCH,
    maxInFlight: MAX_IN_FLIGHT,
  });

  async function load(orgId: string, extend: Parameters<FindCatalogue>[1]): Promise<CachedCatalogue> {
    const { version, rows } = await findMountedTools(pool, orgId).catch(failUnavailable);
    const entries = rows
      .map((row) => toMountedEntry(row, toolDeps))
      .filter((entry): entry is ToolEntry => entry !== undefined);
    const bytes = COPIES * entries.reduce((sum, { json }) => sum + json.length, 0);
    const loaded = { version, catalogue: extend(entries), bytes };
    cached.set(orgId, loaded);
    return loaded;
  }

  function loadOnce(orgId: string, version: number, extend: Parameters<FindCatalogue>[1]) {
    const key = `${orgId} ${version}`;
    let current = loading.get(key);
    if (!current) {
      current = load(orgId, extend).finally(() => loading.delete(key));
      loading.set(key, current);
    }
    return current;
  }

  return async (caller, extend) => {
    const { orgId } = caller;
    for (;;) {
      const state = await findState(caller);
      if (state === undefined) return undefined;
      const { version, groups } = state;
      // Any other version is loaded, an older one too: it is that of a restored database.
      const known = cached.get(orgId);
      const found = known?.version === version ? known : await loadOnce(orgId, version, extend);
      // Another version is that of a later change: the groups may have changed with it, and are read again.
      if (found.version === version) return { catalogue: found.catalogue, groups: new Set(groups) };
    }
  };
}

function failUnavailable(error: unknown): never {
  throw dependencyUnavailable('database', error);
}
