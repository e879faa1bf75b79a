import type { AccountPrincipal } from '@platform/auth';
import type { Logger } from '@platform/service-kit';
import type { ToolCallRecorder } from '../activity/recorder.js';
import {
  type CallerCatalogue,
  type Catalogue,
  createCatalogue,
  extendCatalogue,
  toCallerCatalogue,
  type ToolEntry,
} from './catalogue.js';
import type { Reach } from './reach.js';
import { createMethods, type ExtensionMethods } from './methods.js';
import type { Tool } from './tool.js';
import type { ObserveCall } from './telemetry.js';
import { createRefusedCalls, createToolCalls } from './tool-calls.js';

/** An organisation's catalogue, and the caller's groups at the same moment: no change of either lies between them. */
interface FoundCatalogue extends Pick<Reach, 'groups'> {
  readonly catalogue: Catalogue;
}

/**
 * Returns the catalogue of a caller's organisation; undefined when it has mounted no server.
 *
 * @param extend - adds the organisation's tools to the platform's own.
 */
export type FindCatalogue = (
  caller: Pick<AccountPrincipal, 'orgId' | 'userId'>,
  extend: (mounted: readonly ToolEntry[]) => Catalogue,
) => Promise<FoundCatalogue | undefined>;

const NO_GROUPS: ReadonlySet<string> = new Set();

export function createToolEndpoint(deps: {
  readonly tools: readonly Tool[];
  readonly recordCall: ToolCallRecorder['record'];
  readonly observeCall: ObserveCall;
  readonly log: Logger;
  /** Finds the catalogue of an organisation that has mounted tools. */
  readonly findCatalogue?: FindCatalogue;
  /** The methods of events. */
  readonly events?: ExtensionMethods;
  /** The version that the server reports to clients. */
  readonly version: string;
}) {
  const { tools, findCatalogue, version } = deps;
  const server = { name: 'workspace-knowledge-platform', version };
  const own = createCatalogue(tools, server);
  const extend = (mounted: readonly ToolEntry[]): Catalogue => extendCatalogue(own, mounted, server);
  const callTool = createToolCalls(deps);
  const { recordUnknown, recordChallenge } = createRefusedCalls(deps.recordCall);
  return {
    /** Returns the tools that there are for a caller. */
    async getCatalogue(principal: AccountPrincipal): Promise<CallerCatalogue> {
      const { catalogue, groups } = (await findCatalogue?.(principal, extend)) ?? {
        catalogue: own,
        groups: NO_GROUPS,
      };
      return toCallerCatalogue(catalogue, principal, { groups, bounds: principal.bounds });
    },
    /** Returns the tools of the caller's organisation, whoever can call them. */
    async getTools(caller: Pick<AccountPrincipal, 'orgId' | 'userId'>): Promise<Catalogue> {
      return (await findCatalogue?.(caller, extend))?.catalogue ?? own;
    },
    callTool,
    recordChallenge,
    methods: createMethods(server, { callTool, recordUnknown }, deps.events),
  };
}

/** The remote tools, independent of HTTP. */
export type ToolEndpoint = ReturnType<typeof createToolEndpoint>;
