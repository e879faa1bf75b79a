import type { Logger } from '@platform/service-kit';
import { ProtocolError, ProtocolErrorCode, type ServerContext } from '@modelcontextprotocol/server';
import type { ServerInfo } from './catalogue.js';
import { CheckedServer } from './checked-server.js';
import type { CreateServer } from './protocol-handler.js';
import type { Caller, CallTool } from './tool-calls.js';
import type { Progress, ToolContext } from './tool.js';
import { toCallToolResult } from './tool-result.js';

/** Extends the context by the SDK's cancellation, and by progress for a client that has sent a progress token. */
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

/** Creates SDK servers that list the caller's tools and call them. */
export function createToolServers(deps: {
  readonly callTool: CallTool;
  readonly log: Logger;
  /** The name and version that the server reports to clients. */
  readonly server: ServerInfo;
}): CreateServer {
  const { callTool, log } = deps;
  const onerror = (error: Error) => {
    log.debug({ err: error }, 'failed to send a progress notification');
  };
  return (caller) => {
    const { catalogue, view } = caller;
    const server = new CheckedServer(deps.server, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', ({ params }) => {
      // The list always fits on one page, so no cursor is ever valid.
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
