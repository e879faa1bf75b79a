import type { Logger } from '@platform/service-kit';
import {
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  type McpRequestContext,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { ServerInfo } from './catalogue.js';
import type { CallTool, Caller } from './tool-calls.js';
import type { Progress, ToolContext } from './tool.js';

/** Answers one request, in either era. */
export type ProtocolHandler = Pick<McpHttpHandler, 'fetch'>;

type AuthInfo = NonNullable<McpRequestContext['authInfo']>;

/** The SDK carries what it doesn't know in `authInfo.extra`. */
export const authInfoOf = (caller: Caller): AuthInfo => {
  const { token, userId, grantedScopes } = caller.context.principal;
  return { token, clientId: userId, scopes: [...grantedScopes], extra: { caller } };
};

function callerIn(authInfo: AuthInfo | undefined): Caller {
  const caller = authInfo?.extra?.['caller'] as Caller | undefined;
  if (!caller) throw new TypeError('a request reached the protocol without its caller');
  return caller;
}

/** The context with the SDK's cancellation, and progress for a client that named a token for it. */
function contextIn(
  context: ToolContext,
  { mcpReq }: ServerContext,
  onerror: (error: Error) => void,
): ToolContext {
  const { principal, requestId, client, traceparent, tracestate } = context;
  const progressToken = mcpReq._meta?.progressToken;
  return {
    principal,
    requestId,
    client,
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

const wantsProgress = (message: unknown): boolean =>
  (message as { params?: { _meta?: { progressToken?: unknown } } | null } | null)?.params?._meta
    ?.progressToken !== undefined;

/** Both protocol eras over the official SDK, stateless: a server per request. */
export function createProtocolHandler(callTool: CallTool, log: Logger, info: ServerInfo): ProtocolHandler {
  const onerror = (error: Error) => {
    log.debug({ err: error }, 'tool endpoint refused a message');
  };

  function createServer({ authInfo }: Pick<McpRequestContext, 'authInfo'>) {
    const { view, context } = callerIn(authInfo);
    // The low-level class is deprecated for common use only: McpServer converts every schema on every call.
    // oxlint-disable-next-line typescript/no-deprecated
    const server = new Server(info, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', ({ params }) => {
      // The list is never longer than a page, so there is no cursor that it has given.
      if (params?.cursor !== undefined)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Unknown cursor');
      return { tools: [...view.listed] };
    });
    server.setRequestHandler('tools/call', ({ params }, extra) =>
      callTool({ view, context: contextIn(context, extra, onerror) }, params.name, params.arguments ?? {}),
    );
    return server;
  }

  const modern = createMcpHandler(createServer, { legacy: 'reject', onerror });

  // The SDK's own fallback to the older revisions answers with event streams only.
  const fetchLegacy: ProtocolHandler['fetch'] = async (request, options = {}) => {
    const server = createServer(options);
    const isStream = wantsProgress(options.parsedBody);
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !isStream });
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's transports are no EventTargets
    transport.onerror = onerror;
    await server.connect(transport);
    if (isStream) request.signal.addEventListener('abort', () => void server.close().catch(onerror));
    try {
      return await transport.handleRequest(request, options);
    } finally {
      if (!isStream) await server.close();
    }
  };

  return {
    fetch: async (request, options) =>
      (await isLegacyRequest(request, options?.parsedBody))
        ? fetchLegacy(request, options)
        : modern.fetch(request, options),
  };
}
