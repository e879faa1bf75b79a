import { AppError, isHeaderRepeated } from '@platform/service-kit';
import type { Tool } from './tool.js';

/*
 * A client can request fewer tools than its credential allows, so that an agent sees, and can call, only the tools that
 * its owner intends:
 *
 *   X-MCP-Readonly: true, or /mcp?readonly=1   only tools that change nothing
 *   X-MCP-Tools: whoami, wiki__*               only these tools, and all of the mounted server `wiki`; unknown names are ignored
 *
 * Filters never add tools. An invalid flag, an unknown query parameter and a repeated list are rejected, because taking
 * them for "all tools" would be unsafe.
 */

export interface ToolFilter {
  readonly isReadOnly: boolean;
  /** Names of tools, and what `toServerPattern` returns for all tools of a server; undefined allows any. */
  readonly names: ReadonlySet<string> | undefined;
}

const words = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

const badRequest = (message: string) => new AppError({ status: 400, code: 'BAD_REQUEST', message });

function parseFlag(where: string, value: unknown): boolean {
  if (value === undefined) return false;
  const flag = typeof value === 'string' ? words.get(value.trim().toLowerCase()) : undefined;
  if (flag !== undefined) return flag;
  throw badRequest(`${where} must be true or false`);
}

interface Source {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly query: unknown;
  readonly raw: { readonly rawHeaders: readonly string[] };
}

/** @returns undefined when the request contains no filter. @throws AppError 400. */
export function parseToolFilter({ headers, query, raw }: Source): ToolFilter | undefined {
  if (Object.keys(query ?? {}).some((key) => key !== 'readonly'))
    throw badRequest('The query can have readonly, and nothing else');
  const inHeader = parseFlag('X-MCP-Readonly', headers['x-mcp-readonly']);
  const inQuery = parseFlag('readonly', (query as { readonly?: unknown } | undefined)?.readonly);
  const isReadOnly = inHeader || inQuery;
  const tools = headers['x-mcp-tools'];
  if (tools !== undefined && isHeaderRepeated(raw.rawHeaders, 'x-mcp-tools'))
    throw badRequest('Send one X-MCP-Tools header');
  if (tools === undefined) return isReadOnly ? { isReadOnly, names: undefined } : undefined;
  // oxfmt-ignore
  return { isReadOnly, names: new Set(String(tools).split(',').map((name) => name.trim())) };
}

/**
 * Returns what stands for all tools of the mounted server that the tool belongs to: `wiki__*` for `wiki__search`; undefined
 * for a tool of the platform.
 */
export function toServerPattern(toolName: string): string | undefined {
  const end = toolName.indexOf('__');
  return end === -1 ? undefined : `${toolName.slice(0, end)}__*`;
}

export function matchesFilter(
  { isReadOnly, names }: ToolFilter,
  { name, annotations }: Pick<Tool, 'name' | 'annotations'>,
): boolean {
  if (isReadOnly && !annotations.readOnlyHint) return false;
  return !names || names.has(name) || names.has(toServerPattern(name) ?? name);
}
