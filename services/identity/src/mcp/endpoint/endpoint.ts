import type { AccountPrincipal } from '@platform/auth';
import type { Logger } from '@platform/service-kit';
import type { ToolCallRecorder } from '../activity/recorder.js';
import { type Catalogue, createCatalogue, extendCatalogue, type ToolEntry } from './catalogue.js';
import { createMethods } from './methods.js';
import type { Tool } from './tool.js';
import type { ObserveCall } from './telemetry.js';
import { createToolCalls } from './tool-calls.js';

/**
 * Returns the catalogue of an organisation; undefined when it has mounted no server.
 *
 * @param extend - adds the organisation's tools to the platform's own.
 */
export type FindCatalogue = (
  orgId: string,
  extend: (mounted: readonly ToolEntry[]) => Catalogue,
) => Promise<Catalogue | undefined>;

export function createToolEndpoint(deps: {
  readonly tools: readonly Tool[];
  readonly recordCall: ToolCallRecorder['record'];
  readonly observeCall: ObserveCall;
  readonly log: Logger;
  /** Finds the catalogue of an organisation that has mounted tools. */
  readonly findCatalogue?: FindCatalogue;
  /** The version that the server reports to clients. */
  readonly version: string;
}) {
  const { tools, findCatalogue, version } = deps;
  const server = { name: 'workspace-knowledge-platform', version };
  const own = createCatalogue(tools, server);
  const extend = (mounted: readonly ToolEntry[]): Catalogue => extendCatalogue(own, mounted, server);
  return {
    /** Returns the tools that there are for a caller's organisation. */
    getCatalogue: async ({ orgId }: AccountPrincipal): Promise<Catalogue> =>
      (await findCatalogue?.(orgId, extend)) ?? own,
    methods: createMethods(server, createToolCalls(deps)),
  };
}

/** The remote tools, independent of HTTP. */
export type ToolEndpoint = ReturnType<typeof createToolEndpoint>;
