import type { Logger } from '@platform/service-kit';
import { ProtocolError, ProtocolErrorCode, type ServerContext } from '@modelcontextprotocol/server';
import type { Catalogue, ServerInfo } from './catalogue.js';
import { CheckedServer } from './checked-server.js';
import type { CreateServer } from './protocol-handler.js';
import type { Caller, CallTool } from './tool-calls.js';
import type { Progress, ToolContext } from './tool.js';
import { toCallToolResult } from './tool-result.js';

/** The context with the SDK's cancellation, and progress for a client that named a token for it. */
function toToolContext(
  { context, form }: Caller,
  { mcpReq }: ServerContext,
  onerror: (error: Error) => void,
): ToolContext {
  const { principal, requestId, client, address, traceparent, tracestate } = context;
  const progressToken = form === 'json' ? undefined : mcpReq._meta?.progressToken;
  return {
    principal,
    requestId,
    client,
    address,
    traceparent,
    tracestate,
    isStreamed: progressToken !== undefined,
    signal: AbortSignal.any([context.signal, mcpReq.signal]),
    async report(progress: Progress) {
      if (progressToken === undefined) return;
      await mcpReq
        .notify({ method: 'notifications/progress', params: { progressToken, ...progress } })
        .catch(onerror);
    },
  };
}

/** What the SDK serves: the list of the caller's tools, and their calls. */
export function createToolServers(deps: {
  readonly catalogue: Pick<Catalogue, 'find'>;
  readonly callTool: CallTool;
  readonly log: Logger;
  /** Of this server, as clients are told it. */
  readonly server: ServerInfo;
}): CreateServer {
  const { catalogue, callTool, log } = deps;
  const onerror = (error: Error) => {
    log.debug({ err: error }, 'a client was not told of progress');
  };
  return (caller) => {
    const { view } = caller;
    const server = new CheckedServer(deps.server, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', ({ params }) => {
      // The list is never longer than a page, so there is no cursor that it has given.
      if (params?.cursor !== undefined)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Unknown cursor');
      return { tools: [...view.listed] };
    });
    server.setRequestHandler('tools/call', async ({ params }, extra) => {
      const entry = catalogue.find(params.name);
      if (!entry)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name.slice(0, 64)}`);
      const called = { ...caller, context: toToolContext(caller, extra, onerror) };
      return toCallToolResult(await callTool(called, entry, params.arguments ?? {}));
    });
    return server;
  };
}
