import type { UserPrincipal } from '@platform/auth';
import { createValidatorCompiler, describeFaults, type FaultDetail } from '@platform/service-kit';
import { type ListToolsResult, SERVER_INFO_META_KEY } from '@modelcontextprotocol/server';
import { LRUCache } from 'lru-cache';
import { canCall } from './authority.js';
import { matchesFilter, type ToolFilter } from './tool-filter.js';
import type { Tool, ToolSchema } from './tool.js';

/** The stateless revision, 2026-07-28, or one of those before it. */
export type ProtocolEra = 'modern' | 'legacy';
export type ListedTool = ListToolsResult['tools'][number];

/** What clients are told of this server. */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
}

/** A tool, and what is made of it once. */
export interface ToolEntry {
  readonly tool: Tool;
  readonly listed: ListedTool;
  /** Faults of the arguments, whose defaults it fills in. */
  check(args: unknown): FaultDetail[];
}

/** The tools of one caller: what is listed is what can be called. */
export interface ToolView {
  readonly listed: readonly ListedTool[];
  readonly names: ReadonlySet<string>;
  /** The result of `tools/list` as JSON, made when it is first asked for. */
  listJson(era: ProtocolEra): string;
}

/** All tools of this server. */
export interface Catalogue {
  find(name: string): ToolEntry | undefined;
  getView(principal: UserPrincipal, toolFilter: ToolFilter | undefined): ToolView;
}

/** Views kept, one per distinct set of visible tools; a client that cycles through subsets drives out only these. */
const MAX_VIEWS = 256;
/** A view's key is a number with a bit for each tool: with more, two views would share one. */
const MAX_TOOLS = 53;
/** What a list of the stateless revision says beside itself: it depends on the caller, and is never kept. */
const MODERN_LIST = { ttlMs: 0, cacheScope: 'private' } as const;

const toListed = ({ name, title, description, inputSchema, outputSchema, annotations }: Tool): ListedTool =>
  // Plain copies: TypeBox keeps its kinds in properties that aren't JSON.
  structuredClone({
    name,
    title,
    description,
    inputSchema,
    outputSchema,
    annotations,
  }) as unknown as ListedTool;

interface Validate {
  (value: unknown): boolean;
  readonly errors?: Parameters<typeof describeFaults>[0];
}

function compileCheck(schema: ToolSchema): ToolEntry['check'] {
  const compile = createValidatorCompiler();
  const validate = compile({ schema, httpPart: 'body', method: 'POST', url: '/mcp' }) as Validate;
  return (args) => (validate(args) ? [] : describeFaults(validate.errors ?? [], 'arguments'));
}

/** What every result of the stateless revision carries. */
export const modernFields = (server: ServerInfo) => ({
  resultType: 'complete',
  _meta: { [SERVER_INFO_META_KEY]: server },
});

function createView(entries: readonly ToolEntry[], server: ServerInfo): ToolView {
  const listed = entries.map((entry) => entry.listed);
  const made: Partial<Record<ProtocolEra, string>> = {};
  return {
    listed,
    names: new Set(listed.map(({ name }) => name)),
    listJson: (era) =>
      (made[era] ??= JSON.stringify({
        tools: listed,
        ...(era === 'modern' && { ...MODERN_LIST, ...modernFields(server) }),
      })),
  };
}

/** @throws RangeError for more tools than views can be told apart by. */
export function createCatalogue(tools: readonly Tool[], server: ServerInfo): Catalogue {
  if (tools.length > MAX_TOOLS) throw new RangeError(`there can be ${MAX_TOOLS} tools, not ${tools.length}`);
  const entries = tools.map((tool): ToolEntry => ({
    tool,
    listed: toListed(tool),
    check: compileCheck(tool.checkedSchema ?? tool.inputSchema),
  }));
  const byName = new Map(entries.map((entry) => [entry.tool.name, entry]));
  const views = new LRUCache<number, ToolView>({ max: MAX_VIEWS });
  return {
    find: (name) => byName.get(name),
    getView(principal, toolFilter) {
      // Scopes, role, kind and narrowing count only through what they leave visible: a bit for each tool is the key.
      const isShown = ({ tool }: ToolEntry) =>
        canCall(principal, tool) && (!toolFilter || matchesFilter(toolFilter, tool));
      let key = 0;
      for (const entry of entries) key = key * 2 + (isShown(entry) ? 1 : 0);
      const known = views.get(key);
      if (known) return known;
      const shown = entries.filter(isShown);
      const view = createView(shown, server);
      views.set(key, view);
      return view;
    },
  };
}
