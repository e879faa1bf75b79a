import type { AccountPrincipal } from '@platform/auth';
import type { Logger } from '@platform/service-kit';
import type { ToolCallRecorder } from '../tool-activity/recorder.js';
import {
  type Catalogue,
  createCatalogue,
  extendCatalogue,
  modernFields,
  type ToolEntry,
} from './catalogue.js';
import type { PlainCall, PlainMessage } from './plain-message.js';
import type { CreateServer } from './protocol-handler.js';
import type { Tool } from './tool.js';
import { type Caller, createToolCalls } from './tool-calls.js';
import { toResultJson } from './tool-result.js';
import { createToolServers } from './tool-server.js';

/** The remote tools, independent of HTTP. */
export interface ToolEndpoint {
  /** Returns the tools that there are for a caller's organisation; a promise when they have to be loaded. */
  getCatalogue(principal: AccountPrincipal): Catalogue | Promise<Catalogue>;
  /**
   * Returns the JSON-RPC response to a plain message, as JSON.
   *
   * @returns undefined for an unknown tool, which the SDK answers with a protocol error.
   */
  respond(message: PlainMessage, caller: Caller): string | Promise<string> | undefined;
  /** Creates the SDK server that answers all other messages of a caller. */
  readonly createServer: CreateServer;
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

const toRpcResponse = (id: string | number, result: string): string =>
  `{"result":${result},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;

export function createToolEndpoint(deps: {
  readonly tools: readonly Tool[];
  readonly recordCall: ToolCallRecorder['record'];
  readonly log: Logger;
  /** Finds the catalogue of an organisation that has mounted tools. */
  readonly findCatalogue?: FindCatalogue;
  /** The version that the server reports to clients. */
  readonly version: string;
}): ToolEndpoint {
  const { tools, recordCall, log, findCatalogue, version } = deps;
  const server = { name: 'workspace-knowledge-platform', version };
  const own = createCatalogue(tools, server);
  const extend = (mounted: readonly ToolEntry[]): Catalogue => extendCatalogue(own, mounted, server);
  const callTool = createToolCalls(log, recordCall);
  const modernMembers = `,${JSON.stringify(modernFields(server)).slice(1, -1)}`;

  async function respondToCall(
    { id, era, args }: PlainCall,
    caller: Caller,
    entry: ToolEntry,
  ): Promise<string> {
    const result = await callTool(caller, entry, args);
    return toRpcResponse(id, toResultJson(result, era === 'modern' ? modernMembers : ''));
  }

  return {
    getCatalogue: ({ orgId }) => findCatalogue?.(orgId, extend) ?? own,
    respond(message, caller) {
      if (message.method === 'tools/list')
        return toRpcResponse(message.id, caller.view.listJson(message.era));
      const entry = caller.catalogue.find(message.name);
      return entry && respondToCall(message, caller, entry);
    },
    createServer: createToolServers({ callTool, log, server }),
  };
}
