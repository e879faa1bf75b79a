import { AppError, type Logger } from '@platform/service-kit';
import {
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  type McpRequestContext,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Caller } from './tool-calls.js';

/** Handles one request of either era. */
export type ProtocolHandler = Pick<McpHttpHandler, 'fetch'>;
/** Creates the SDK server for one request. */
// oxlint-disable-next-line typescript/no-deprecated -- for common use only
export type CreateServer = (caller: Caller) => Server;

type AuthInfo = NonNullable<McpRequestContext['authInfo']>;

/** Passes the caller through the SDK, in `authInfo.extra`. */
export const toAuthInfo = (caller: Caller): AuthInfo => {
  const { token, userId, grantedScopes } = caller.context.principal;
  return { token, clientId: userId, scopes: [...grantedScopes], extra: { caller } };
};

function requireCaller({ authInfo }: Pick<McpRequestContext, 'authInfo'>): Caller {
  const caller = authInfo?.extra?.['caller'] as Caller | undefined;
  if (!caller) throw new TypeError('authInfo.extra contains no caller');
  return caller;
}

const wantsProgress = (message: unknown): boolean =>
  (message as { params?: { _meta?: { progressToken?: unknown } } | null } | null)?.params?._meta
    ?.progressToken !== undefined;

/** Rejects the one method whose response is always a stream. Call it when the client doesn't accept streams. */
function assertAnswerable(message: unknown): void {
  if ((message as { method?: unknown } | null)?.method !== 'subscriptions/listen') return;
  const text = 'Not acceptable: subscriptions/listen is answered with text/event-stream';
  throw new AppError({ status: 406, code: 'NOT_ACCEPTABLE', message: text });
}

/** Handles both protocol eras with the official SDK, without state: each request gets a server of its own. */
export function createProtocolHandler(createServer: CreateServer, log: Logger): ProtocolHandler {
  const onerror = (error: Error) => {
    log.debug({ err: error }, 'the SDK rejected a message');
  };
  const createModern = (responseMode: 'auto' | 'sse') =>
    createMcpHandler((context) => createServer(requireCaller(context)), {
      legacy: 'reject',
      onerror,
      responseMode,
    });
  // `auto` responds with JSON unless there are notifications, which aren't sent to a client that doesn't accept a stream.
  const modern = createModern('auto');
  const modernStream = createModern('sse');

  // The SDK's own fallback for earlier revisions responds with event streams only.
  const fetchLegacy: ProtocolHandler['fetch'] = async (request, options = {}) => {
    const caller = requireCaller(options);
    const server = createServer(caller);
    const isStream =
      caller.form === 'stream' || (caller.form === 'either' && wantsProgress(options.parsedBody));
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
    async fetch(request, options = {}) {
      if (await isLegacyRequest(request, options.parsedBody)) return fetchLegacy(request, options);
      const { form } = requireCaller(options);
      if (form === 'json') assertAnswerable(options.parsedBody);
      return (form === 'stream' ? modernStream : modern).fetch(request, options);
    },
  };
}
