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

/** Answers one request, in either era. */
export type ProtocolHandler = Pick<McpHttpHandler, 'fetch'>;
/** The server of one request. */
// oxlint-disable-next-line typescript/no-deprecated -- for common use only
export type CreateServer = (caller: Caller) => Server;

type AuthInfo = NonNullable<McpRequestContext['authInfo']>;

/** The SDK carries what it doesn't know in `authInfo.extra`. */
export const toAuthInfo = (caller: Caller): AuthInfo => {
  const { token, userId, grantedScopes } = caller.context.principal;
  return { token, clientId: userId, scopes: [...grantedScopes], extra: { caller } };
};

function requireCaller({ authInfo }: Pick<McpRequestContext, 'authInfo'>): Caller {
  const caller = authInfo?.extra?.['caller'] as Caller | undefined;
  if (!caller) throw new TypeError('a request reached the protocol without its caller');
  return caller;
}

const wantsProgress = (message: unknown): boolean =>
  (message as { params?: { _meta?: { progressToken?: unknown } } | null } | null)?.params?._meta
    ?.progressToken !== undefined;

/** The answer to this one method is a stream, whatever the client takes. */
function assertAnswerable(message: unknown): void {
  if ((message as { method?: unknown } | null)?.method !== 'subscriptions/listen') return;
  const text = 'Not acceptable: subscriptions/listen is answered with text/event-stream';
  throw new AppError({ status: 406, code: 'NOT_ACCEPTABLE', message: text });
}

/** Both protocol eras over the official SDK, stateless: a server per request, whose caller goes in `authInfo`. */
export function createProtocolHandler(createServer: CreateServer, log: Logger): ProtocolHandler {
  const onerror = (error: Error) => {
    log.debug({ err: error }, 'tool endpoint refused a message');
  };
  const createModern = (responseMode: 'auto' | 'sse') =>
    createMcpHandler((context) => createServer(requireCaller(context)), {
      legacy: 'reject',
      onerror,
      responseMode,
    });
  // Without notifications, `auto` answers JSON: a server sends none to a client that takes no stream.
  const modern = createModern('auto');
  const modernStream = createModern('sse');

  // The SDK's own fallback to the older revisions answers with event streams only.
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
