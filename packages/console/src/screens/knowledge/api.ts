import { knowledge as t } from '#text/knowledge';
import type { IdentitySchemas } from '@platform/clients/types';
import { queryOptions } from '@tanstack/react-query';
import { identity, unwrap } from '../../api/client.ts';
import type { Tone } from '../../ui/badge.tsx';

export type Source = IdentitySchemas['schemas']['KnowledgeSource'];
export type UsableTool = IdentitySchemas['schemas']['UsableTool'];
export type ToolAnswer = Awaited<ReturnType<typeof callTool>>;

const REFRESH_MS = 30_000;

/** The sources of what oneself can search; of an administrator all of them. */
export const sourcesQuery = queryOptions({
  queryKey: ['knowledge', 'sources'],
  queryFn: async ({ signal }) => (await unwrap(identity.GET('/api/v1/knowledge/sources', { signal }))).data,
  refetchInterval: REFRESH_MS,
});

/** The tools that an agent of oneself can call. */
export const usableToolsQuery = queryOptions({
  queryKey: ['mcp-servers', 'usable-tools'],
  queryFn: async ({ signal }) => (await unwrap(identity.GET('/api/v1/mcp-servers/tools', { signal }))).data,
});

/** Calls a tool as oneself. */
export const callTool = (tool: string, args: Record<string, unknown>) =>
  unwrap(
    identity.POST('/api/v1/mcp-servers/tools/{tool}/call', {
      params: { path: { tool } },
      body: { arguments: args },
    }),
  );

/** The names that searches give the argument with the question. */
const QUESTIONS = ['query', 'q', 'question', 'search', 'keywords', 'text'];

/** Returns the argument that a tool searches for; undefined for a tool that needs anything else. */
export function findQuestion({ inputSchema, annotations }: UsableTool): string | undefined {
  const { properties = {}, required = [] } = inputSchema as {
    readonly properties?: Readonly<Record<string, { readonly type?: unknown } | null>>;
    readonly required?: readonly string[];
  };
  const name = QUESTIONS.find((one) => properties[one]?.type === 'string');
  const isEnough = name !== undefined && required.every((one) => one === name);
  return annotations['readOnlyHint'] === true && isEnough ? name : undefined;
}

export const stateTones: Readonly<Record<keyof typeof t.states, Tone>> = {
  fresh: 'good',
  late: 'bad',
  failing: 'bad',
  paused: 'notice',
  unscheduled: 'notice',
};

/** Says who can search a source. */
export function describeReaders({ readers: { everyone, groups } }: Source): string {
  if (groups.length === 0) return everyone ? t.readers.everyone : t.readers.nobody;
  return everyone ? t.readers.everyoneAndGroups(groups) : t.readers.groups(groups);
}
