import { type AccountPrincipal, hasScope } from '@platform/auth';
import { LRUCache } from 'lru-cache';
import { canCall } from './authority.js';
import { type ProtocolEra, SERVER_INFO_META_KEY } from './protocol-era.js';
import { compileCheck, type SchemaCheck } from './schema-check.js';
import { matchesFilter, type ToolFilter } from './tool-filter.js';
import { canReach, createReachKey, type Reach, type Reachable } from './reach.js';
import { type ToolResult, toolResult } from './tool-result.js';
import type { Tool, ToolContext } from './tool.js';

/** The name and version that the server reports to clients. */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
}

/** A tool as it is listed and called, together with what is derived from it once. */
export interface ToolEntry extends Reachable {
  /** The connectors whose documents its answers come from. */
  readonly connectors?: readonly string[];
  readonly tool: Pick<Tool, 'name' | 'scopes' | 'isAdminOnly' | 'isTokenOnly' | 'annotations'>;
  /** The definition that `tools/list` shows, as JSON. */
  readonly json: string;
  /** The connectors that its answers come from, and the name of its server; absent for a tool of the platform. */
  readonly knowledge?: { readonly server: string; readonly connectors: readonly string[] };
  /** Returns the faults of the arguments, and fills in the defaults. */
  readonly check: SchemaCheck;
  /** @throws AppError or ServiceFault, whose message is shown to the caller. */
  call(args: Readonly<Record<string, unknown>>, context: ToolContext): Promise<ToolResult>;
}

/** The tools that a caller can list and call. */
export interface ToolView {
  readonly entries: readonly ToolEntry[];
  readonly names: ReadonlySet<string>;
  /** Returns the result of `tools/list` as JSON in UTF-8. It is encoded on first use: for a long list that is most of the work. */
  listJson(era: ProtocolEra): Buffer;
}

/** The tools of the platform, or those together with the tools that an organisation has mounted. */
export interface Catalogue {
  /** Finds a tool, whoever reaches it. */
  get(name: string): ToolEntry | undefined;
  /** Returns all tools, whoever reaches them. */
  list(): readonly ToolEntry[];
  /** Finds a tool that the caller reaches, whether or not the credential has its scopes. */
  find(name: string, reach: Reach): ToolEntry | undefined;
  getView(principal: AccountPrincipal, toolFilter: ToolFilter | undefined, reach: Reach): ToolView;
}

/** A catalogue as one caller sees it. */
export interface CallerCatalogue extends Pick<Reach, 'groups'> {
  find(name: string): ToolEntry | undefined;
  /** Returns whether the bounds of the credential alone keep the caller from a tool. */
  isOutOfBounds(name: string): boolean;
  getView(toolFilter: ToolFilter | undefined): ToolView;
}

export const toCallerCatalogue = (
  catalogue: Catalogue,
  principal: AccountPrincipal,
  reach: Reach,
): CallerCatalogue => ({
  groups: reach.groups,
  find: (name) => catalogue.find(name, reach),
  isOutOfBounds: (name) =>
    reach.bounds !== undefined &&
    !catalogue.find(name, reach) &&
    catalogue.find(name, { groups: reach.groups, bounds: undefined }) !== undefined,
  getView: (toolFilter) => catalogue.getView(principal, toolFilter, reach),
});

/** The number of cached views, one for each distinct set of visible tools. */
const MAX_VIEWS = 256;
/** The number of cached views of mounted tools for each view of the own ones: scopes, and groups in many combinations. */
const MAX_EXTENSIONS = 64;
/** A view's key is a number with one bit for each tool; a double holds 53 bits exactly. */
const MAX_TOOLS = 53;
/** The cache fields of a result in the stateless revision: it depends on the caller and must not be cached. */
export const UNCACHED = { ttlMs: 0, cacheScope: 'private' } as const;

const toListedJson = ({ name, title, description, inputSchema, outputSchema, annotations }: Tool): string =>
  JSON.stringify({ name, title, description, inputSchema, outputSchema, annotations });

/** Returns the fields that every result of the stateless revision contains. */
export const modernFields = (server: ServerInfo) => ({
  resultType: 'complete',
  _meta: { [SERVER_INFO_META_KEY]: server },
});

function createView(entries: readonly ToolEntry[], server: ServerInfo): ToolView {
  const made: Partial<Record<ProtocolEra, Buffer>> = {};
  return {
    entries,
    names: new Set(entries.map(({ tool }) => tool.name)),
    listJson(era) {
      const more =
        era === 'modern' ? `,${JSON.stringify({ ...UNCACHED, ...modernFields(server) }).slice(1, -1)}` : '';
      return (made[era] ??= Buffer.from(`{"tools":[${entries.map(({ json }) => json).join(',')}]${more}}`));
    },
  };
}

function toEntry(tool: Tool): ToolEntry {
  return {
    tool,
    key: tool.name,
    json: toListedJson(tool),
    check: compileCheck(tool.checkedSchema ?? tool.inputSchema, 'arguments'),
    call: async (args, context) => toolResult(await tool.call(args, context)),
  };
}

function isShown(
  entry: ToolEntry,
  principal: AccountPrincipal,
  toolFilter: ToolFilter | undefined,
  reach: Reach,
): boolean {
  const { tool } = entry;
  return (
    canCall(principal, tool) && (!toolFilter || matchesFilter(toolFilter, tool)) && canReach(entry, reach)
  );
}

const findReachable = (entry: ToolEntry | undefined, reach: Reach): ToolEntry | undefined =>
  entry && canReach(entry, reach) ? entry : undefined;

/** @throws RangeError when there are more than 53 tools. */
export function createCatalogue(tools: readonly Tool[], server: ServerInfo): Catalogue {
  if (tools.length > MAX_TOOLS)
    throw new RangeError(`at most ${MAX_TOOLS} tools are supported, not ${tools.length}`);
  const entries = tools.map(toEntry);
  const byName = new Map(entries.map((entry) => [entry.tool.name, entry]));
  const views = new LRUCache<number, ToolView>({ max: MAX_VIEWS });
  return {
    get: (name) => byName.get(name),
    list: () => entries,
    find: (name, reach) => findReachable(byName.get(name), reach),
    getView(principal, toolFilter, reach) {
      // The key has one bit for each visible tool: scopes, role, kind and filter matter only by what they leave visible.
      let key = 0;
      for (const entry of entries) key = key * 2 + (isShown(entry, principal, toolFilter, reach) ? 1 : 0);
      const known = views.get(key);
      if (known) return known;
      const view = createView(
        entries.filter((entry) => isShown(entry, principal, toolFilter, reach)),
        server,
      );
      views.set(key, view);
      return view;
    },
  };
}

/**
 * Adds an organisation's mounted tools to the platform's own. Any number of tools can be mounted, so that the views are
 * cached by what can be called, for each view of the own tools; a filter's view is made for its request.
 */
export function extendCatalogue(
  own: Catalogue,
  mounted: readonly ToolEntry[],
  server: ServerInfo,
): Catalogue {
  const byName = new Map(mounted.map((entry) => [entry.tool.name, entry]));
  const scopes = [...new Set(mounted.flatMap(({ tool }) => tool.scopes))];
  const toReachKey = createReachKey(mounted);
  const views = new WeakMap<ToolView, LRUCache<string, ToolView>>();

  function extend(
    view: ToolView,
    principal: AccountPrincipal,
    toolFilter: ToolFilter | undefined,
    reach: Reach,
  ): ToolView {
    const shown = mounted.filter((entry) => isShown(entry, principal, toolFilter, reach));
    return shown.length === 0 ? view : createView([...view.entries, ...shown], server);
  }

  return {
    get: (name) => own.get(name) ?? byName.get(name),
    list: () => [...own.list(), ...mounted],
    find: (name, reach) => own.find(name, reach) ?? findReachable(byName.get(name), reach),
    getView(principal, toolFilter, reach) {
      const view = own.getView(principal, toolFilter, reach);
      if (toolFilter) return extend(view, principal, toolFilter, reach);
      const key = `${scopes.filter((scope) => hasScope(principal, scope)).join(' ')}|${toReachKey(reach)}`;
      let extensions = views.get(view);
      if (!extensions) views.set(view, (extensions = new LRUCache({ max: MAX_EXTENSIONS })));
      let extended = extensions.get(key);
      if (!extended) extensions.set(key, (extended = extend(view, principal, undefined, reach)));
      return extended;
    },
  };
}
