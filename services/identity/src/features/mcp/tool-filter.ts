import { AppError, isHeaderRepeated } from '@platform/service-kit';
import type { Tool } from './tool.js';

/*
 * A client can ask for fewer tools than its credential allows, so that an agent is shown, and can
 * call, only what its owner means it to:
 *
 *   X-MCP-Readonly: true, or /mcp?readonly=1   tools that change nothing
 *   X-MCP-Tools: whoami, get_crawl             these; a name that is no tool's adds nothing
 *
 * Each only takes away. A value that is neither yes nor no, a query that is neither, and a list that is there
 * twice are refused: they must not mean "all".
 */

export interface ToolFilter {
  readonly isReadOnly: boolean;
  /** Undefined: any. */
  readonly names: ReadonlySet<string> | undefined;
}

const words = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

const badRequest = (message: string) => new AppError({ status: 400, code: 'BAD_REQUEST', message });

function readFlag(where: string, value: unknown): boolean {
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

/** @returns undefined when nothing is narrowed. @throws AppError 400. */
export function parseToolFilter({ headers, query, raw }: Source): ToolFilter | undefined {
  if (Object.keys(query ?? {}).some((key) => key !== 'readonly'))
    throw badRequest('The query can have readonly, and nothing else');
  const inHeader = readFlag('X-MCP-Readonly', headers['x-mcp-readonly']);
  const inQuery = readFlag('readonly', (query as { readonly?: unknown } | undefined)?.readonly);
  const isReadOnly = inHeader || inQuery;
  const tools = headers['x-mcp-tools'];
  if (tools !== undefined && isHeaderRepeated(raw.rawHeaders, 'x-mcp-tools'))
    throw badRequest('Send one X-MCP-Tools header');
  if (tools === undefined) return isReadOnly ? { isReadOnly, names: undefined } : undefined;
  return { isReadOnly, names: new Set(String(tools).split(',').map((name) => name.trim())) }; // prettier-ignore
}

export const matchesFilter = (
  { isReadOnly, names }: ToolFilter,
  tool: Pick<Tool, 'name' | 'annotations'>,
): boolean => (!isReadOnly || tool.annotations.readOnlyHint) && (!names || names.has(tool.name));
