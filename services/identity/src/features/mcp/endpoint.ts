import type { UserPrincipal } from '@platform/auth';
import type { Logger } from '@platform/service-kit';
import { ProtocolError } from '@modelcontextprotocol/server';
import type { ToolCallRecorder } from '../tool-activity/recorder.js';
import { type Catalogue, createCatalogue, modernFields, type ToolView } from './catalogue.js';
import type { Narrowing } from './narrowing.js';
import type { PlainMessage } from './plain-message.js';
import { createProtocolHandler, type ProtocolHandler } from './protocol-handler.js';
import type { Tool } from './tool.js';
import { type Caller, createToolCalls } from './tool-calls.js';

/** The remote tools, below HTTP. */
export interface ToolEndpoint {
  /** What a caller can see and call. */
  viewOf(principal: UserPrincipal, narrowing: Narrowing | undefined): ToolView;
  /** The JSON-RPC answer to a plain message, as JSON. */
  answer(message: PlainMessage, caller: Caller): string | Promise<string>;
  /** Everything else of the protocol; the caller goes in `authInfo`. */
  readonly handler: ProtocolHandler;
}

const answerOf = (id: string | number, result: string): string =>
  `{"result":${result},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;

const faultOf = (id: string | number, { code, message }: ProtocolError): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });

export function createToolEndpoint(deps: {
  readonly tools: readonly Tool[];
  readonly recordCall: ToolCallRecorder['record'];
  readonly log: Logger;
  /** Of this server, as clients are told it. */
  readonly version: string;
}): ToolEndpoint {
  const { tools, recordCall, log, version } = deps;
  const server = { name: 'workspace-knowledge-platform', version };
  const modern = modernFields(server);
  const catalogue: Catalogue = createCatalogue(tools, server);
  const callTool = createToolCalls(catalogue, log, recordCall);

  async function answerCall(
    message: PlainMessage & { method: 'tools/call' },
    caller: Caller,
  ): Promise<string> {
    const { id, era, name, args } = message;
    try {
      const result = await callTool(caller, name, args);
      return answerOf(id, JSON.stringify(era === 'modern' ? { ...result, ...modern } : result));
    } catch (error) {
      if (error instanceof ProtocolError) return faultOf(id, error);
      throw error;
    }
  }

  return {
    viewOf: catalogue.viewOf,
    answer: (message, caller) =>
      message.method === 'tools/list'
        ? answerOf(message.id, caller.view.listJson(message.era))
        : answerCall(message, caller),
    handler: createProtocolHandler(callTool, log, server),
  };
}
