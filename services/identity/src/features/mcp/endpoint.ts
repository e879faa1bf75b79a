import type { AccountPrincipal } from '@platform/auth';
import type { Logger } from '@platform/service-kit';
import type { ToolCallRecorder } from '../tool-activity/recorder.js';
import { createCatalogue, modernFields, type ToolEntry, type ToolView } from './catalogue.js';
import type { ToolFilter } from './tool-filter.js';
import type { PlainCall, PlainMessage } from './plain-message.js';
import type { CreateServer } from './protocol-handler.js';
import type { Tool } from './tool.js';
import { type Caller, createToolCalls } from './tool-calls.js';
import { toResultJson } from './tool-result.js';
import { createToolServers } from './tool-server.js';

/** The remote tools, independent of HTTP. */
export interface ToolEndpoint {
  /** Returns the tools that a caller can see and call. */
  getView(principal: AccountPrincipal, toolFilter: ToolFilter | undefined): ToolView;
  /**
   * Returns the JSON-RPC response to a plain message, as JSON.
   *
   * @returns undefined for an unknown tool, which the SDK answers with a protocol error.
   */
  respond(message: PlainMessage, caller: Caller): string | Promise<string> | undefined;
  /** Creates the SDK server that answers all other messages of a caller. */
  readonly createServer: CreateServer;
}

const toRpcResponse = (id: string | number, result: string): string =>
  `{"result":${result},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;

export function createToolEndpoint(deps: {
  readonly tools: readonly Tool[];
  readonly recordCall: ToolCallRecorder['record'];
  readonly log: Logger;
  /** The version that the server reports to clients. */
  readonly version: string;
}): ToolEndpoint {
  const { tools, recordCall, log, version } = deps;
  const server = { name: 'workspace-knowledge-platform', version };
  const catalogue = createCatalogue(tools, server);
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
    getView: catalogue.getView,
    respond(message, caller) {
      if (message.method === 'tools/list')
        return toRpcResponse(message.id, caller.view.listJson(message.era));
      const entry = catalogue.find(message.name);
      return entry && respondToCall(message, caller, entry);
    },
    createServer: createToolServers({ catalogue, callTool, log, server }),
  };
}
