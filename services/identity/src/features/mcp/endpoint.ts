import type { AccountPrincipal } from '@platform/auth';
import type { Logger } from '@platform/service-kit';
import type { RecordScopes } from '../liveness/feature.js';
import type { ToolCallRecorder } from '../tool-activity/recorder.js';
import { type Catalogue, createCatalogue, extendCatalogue, type ToolEntry } from './catalogue.js';
import { createMethods, type Methods } from './methods.js';
import type { Tool } from './tool.js';
import { createToolCalls } from './tool-calls.js';

/** The remote tools, independent of HTTP. */
export interface ToolEndpoint {
  /** Returns the tools that there are for a caller's organisation; a promise when they have to be loaded. */
  getCatalogue(principal: AccountPrincipal): Catalogue | Promise<Catalogue>;
  readonly methods: Methods;
}

/**
 * Returns the catalogue of an organisation; undefined when it has mounted no server.
 *
 * @param extend - adds the organisation's tools to the platform's own.
 */
export type FindCatalogue = (
  orgId: string,
  extend: (mounted: readonly ToolEntry[]) => Catalogue,
) => Catalogue | Promise<Catalogue> | undefined;

export function createToolEndpoint(deps: {
  readonly tools: readonly Tool[];
  readonly recordCall: ToolCallRecorder['record'];
  readonly recordScopes: RecordScopes;
  readonly log: Logger;
  /** Finds the catalogue of an organisation that has mounted tools. */
  readonly findCatalogue?: FindCatalogue;
  /** The version that the server reports to clients. */
  readonly version: string;
}): ToolEndpoint {
  const { tools, findCatalogue, version } = deps;
  const server = { name: 'workspace-knowledge-platform', version };
  const own = createCatalogue(tools, server);
  const extend = (mounted: readonly ToolEntry[]): Catalogue => extendCatalogue(own, mounted, server);
  return {
    getCatalogue: ({ orgId }) => findCatalogue?.(orgId, extend) ?? own,
    methods: createMethods(server, createToolCalls(deps)),
  };
}
